/**
 * What is used of undici: one connection, and how it connects. The package as a whole also brings `fetch`, caches, cookies and WebSockets, half a megabyte
 * that each start would read.
 */
import UndiciClient from 'undici/lib/dispatcher/client.js'
import buildUndiciConnector from 'undici/lib/core/connect.js'

export type { buildConnector } from 'undici'
export { UndiciClient as Client, buildUndiciConnector as createConnector }
