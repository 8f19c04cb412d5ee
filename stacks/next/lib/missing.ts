/** For what a route does not have; Next alone would answer other methods with 405, and another path with a page. */
import { notFound } from "shared/errors.ts";
import { failed } from "./answers.ts";

const missing = () => failed(notFound);

export { missing as DELETE, missing as GET, missing as OPTIONS, missing as PATCH, missing as POST, missing as PUT };
