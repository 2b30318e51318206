/**
 * The client of the management API. Paths, parameters and answers are those of the OpenAPI document (`generated.d.ts`),
 * so a route that changes breaks the build. The session is a cookie; nothing is stored here.
 */
import createClient from 'openapi-fetch'
import { loadTexts } from '../texts/languages.ts'
import { ApiError } from './api-error.ts'
import type { paths } from './generated.d.ts'

/**
 * `no-cache`: the browser revalidates every answer (304 when unchanged). Otherwise the back button would show cached answers,
 * even after signing out or for another organisation.
 */
export const client = createClient<paths>({
  baseUrl: globalThis.location.origin,
  cache: 'no-cache',
  fetch: (request) => takeAsked(request) ?? window.fetch(request),
})

declare global {
  /** Requests that were sent before the scripts were loaded, by URL (`app/shell/look.js`). */
  var sluiceAsked: Map<string, Promise<Response>> | undefined
}

/** Each of these answers is used once, by the first request for the person's own account. */
function takeAsked({ url, method, headers }: Request): Promise<Response> | undefined {
  if (method !== 'GET' || headers.has('Gw-Organisation')) return undefined
  const answer = globalThis.sluiceAsked?.get(url)
  globalThis.sluiceAsked?.delete(url)
  return answer
}

/** What the client resolves to, for any route. */
interface Answered<Body> {
  readonly data?: Body
  readonly error?: unknown
  readonly response: Response
}

/** The whole body of a successful answer; rejects with `ApiError` otherwise. */
export async function answerOf<Body>(asked: Promise<Answered<Body>>): Promise<NonNullable<Body>> {
  const { data, error, response } = await asked.catch((cause: unknown) => {
    throw ApiError.unreachable(cause)
  })
  if (data !== undefined && data !== null) return data
  const refusal = ApiError.of(error, response)
  // The sentences in the person's language; if they cannot be loaded, the gateway's message is shown.
  if (refusal.said !== undefined || refusal.faults.length > 0) await loadTexts('rules').catch(() => undefined)
  throw refusal
}

/** `data` of a successful answer in our envelope. */
export async function dataOf<Data>(asked: Promise<Answered<{ readonly data: Data }>>): Promise<Data> {
  return (await answerOf(asked)).data
}

/** The header that names the active organisation; none when people act for themselves. */
export function actingFor(organisation: string | undefined): { 'Gw-Organisation'?: string } {
  return organisation === undefined ? {} : { 'Gw-Organisation': organisation }
}
