import { mount } from "@/lib/mount.ts";

export const { DELETE, GET, OPTIONS, PATCH, POST, PUT } = mount("/tx");
