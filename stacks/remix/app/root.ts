/** There are no pages: each route answers itself. */
export { Outlet as default } from "react-router";
