/**
 * The client of an Atelier server: everything that a program may name.
 *
 * Not here: how it is done (`client`, `feed`, `live`, `upload`); the documents and types are made from the schema.
 */
export { Atelier, type Asset, type Page, type Present, type TypedDocument, type WorkChange, type WorkspaceEvent } from './client.js';
export { AtelierError, CODES, type ErrorCode, type GraphQLFault } from './errors.js';
export type { FeedOptions } from './feed.js';
export * from './generated.js';
export { Live, type LiveOptions, type LiveState } from './live.js';
export type { AtelierOptions, RequestOptions } from './transport.js';
export type { UploadInput } from './upload.js';
