import { randomRows } from "../../../people.js";

export const GET = async (_request, { params }) => Response.json(randomRows("person30", (await params).size));
