export const GET = () => Response.json({ message: "next" });
