import { randomRows } from "../../../people.js";

export const GET = async (_request, { params }) => Response.json(randomRows("person5", (await params).size));
