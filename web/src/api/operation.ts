/** The text of a GraphQL operation that knows the types of its variables and of its answer. */

declare const types: unique symbol;

export type Operation<Result, Variables> = string & { readonly [types]?: [Result, Variables] };

/** What was found under an id, if it is of a kind that has this field; null for nothing and for another kind. */
export function having<N extends object, K extends string>(node: N | null | undefined, field: K): Extract<N, Record<K, unknown>> | null {
  return node && field in node ? (node as Extract<N, Record<K, unknown>>) : null;
}
