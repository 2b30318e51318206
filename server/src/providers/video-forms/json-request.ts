/** Requests most vendors take: JSON out, JSON back. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject } from '../../core/json.ts'

export function postJson(url: string, body: JsonObject): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  }
}

export function getJson(url: string): HttpRequest {
  return { method: 'GET', url, headers: { accept: 'application/json' } }
}
