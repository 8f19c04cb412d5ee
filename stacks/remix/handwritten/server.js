/** The same routes as React Router's template node-custom-server has them: what `./bench.sh tax` compares the server with. */
import { createRequestHandler } from "@react-router/express";
import express from "express";
import * as build from "./build/server/index.js";

const app = express();
app.disable("x-powered-by");
app.use(createRequestHandler({ build }));
app.listen(Number(process.env.PORT));
