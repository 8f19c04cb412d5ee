/** There are no pages; each route has its own answer. */
export { Outlet as default } from "react-router";
