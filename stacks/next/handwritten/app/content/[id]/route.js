import { read, remove, update } from "../../contents.js";

const found = (content) => (content ? Response.json(content) : new Response(null, { status: 404 }));

export const GET = async (_request, { params }) => found(read((await params).id));

export const PUT = async (request, { params }) => found(update((await params).id, await request.json()));

export const DELETE = async (_request, { params }) =>
  new Response(null, { status: remove((await params).id) ? 204 : 404 });
