import { randomRows } from "@/lib/answers.ts";

export { DELETE, OPTIONS, PATCH, POST, PUT } from "@/lib/missing.ts";

export const GET = randomRows("person5");
