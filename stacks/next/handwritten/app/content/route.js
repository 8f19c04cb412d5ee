import { create, list } from "../contents.js";

export const POST = async (request) => Response.json(create(await request.json()), { status: 201 });

export function GET(request) {
  const query = request.nextUrl.searchParams;
  return Response.json(list(query.get("after"), Number(query.get("limit") ?? 20)));
}
