import type { StoredAction } from '../call.ts'
import type { EndpointKind, EndpointPath, Method } from './kind.ts'

/** Stored responses: read, listed, deleted, cancelled (docs/reference/contract.md#4.2). */
export const STORED: EndpointKind = {
  id: 'stored',
  flow: 'stored',
  chains: ['responses'],
  paths: [
    stored('GET', '/v1/responses/{id}', 'response'),
    stored('DELETE', '/v1/responses/{id}', 'delete'),
    stored('GET', '/v1/responses/{id}/input_items', 'input-items'),
    stored('POST', '/v1/responses/{id}/cancel', 'cancel'),
  ],
}

function stored(method: Method, path: string, action: StoredAction): EndpointPath {
  return { methods: [method], path, logged: 'values', protocol: 'responses', action }
}
