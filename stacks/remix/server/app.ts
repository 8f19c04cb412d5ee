/** React Router behind Express, as in React Router's template node-custom-server. */

import * as build from "virtual:react-router/server-build";
import { createRequestHandler } from "@react-router/express";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { RouterContextProvider } from "react-router";
import { answerError, notFound } from "../../../shared/errors.ts";
import { type Opened, opened } from "../app/answers.ts";

/** Answers 404, because React Router answers OPTIONS as GET, and other methods with 405. */
const refuse: RequestHandler = ({ method }, _response, next) => {
  if (method !== "GET" && method !== "HEAD") throw notFound;
  next();
};

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const { status, body } = answerError(error);
  response.status(status).json(body);
};

/** @param value loaders get it from their context */
export function appOf(value: Opened): Express {
  const handler = createRequestHandler({
    build, // with a function, as in the template, React Router rebuilds all routes at each request
    getLoadContext() {
      const context = new RouterContextProvider();
      context.set(opened, value);
      return context;
    },
  });
  return express().disable("x-powered-by").disable("etag").use(refuse, handler, onError);
}
