/**
 * What is used of undici: one connection, how it connects, and `CONNECT`. The package as a whole also brings `fetch`, caches, cookies and
 * WebSockets, half a megabyte that each start would read.
 */
import askToConnect from 'undici/lib/api/api-connect.js'
import buildUndiciConnector from 'undici/lib/core/connect.js'
import UndiciClient from 'undici/lib/dispatcher/client.js'

export type { buildConnector } from 'undici'
export { askToConnect, UndiciClient as Client, buildUndiciConnector as createConnector }
