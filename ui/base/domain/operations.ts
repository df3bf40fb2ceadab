import type { components, operations } from "./openapi";

/** A type of the OpenAPI document that the server generates. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** The operations of the server by their names in that document. */
export type Operation = keyof operations;

type JSONOf<T> = T extends { content: { "application/json": infer Body } } ? Body : never;

type Success = 200 | 201 | 202;

type AnswerOf<All> = { [Status in keyof All & Success]: JSONOf<All[Status]> }[keyof All & Success];

/** What the server answers to an operation that succeeds; undefined without a body. */
export type Answer<Name extends Operation> = [AnswerOf<operations[Name]["responses"]>] extends [never]
  ? undefined
  : AnswerOf<operations[Name]["responses"]>;

/** The body of a request; never without one. */
export type Body<Name extends Operation> = JSONOf<NonNullable<operations[Name]["requestBody"]>>;
