/**
 * The gateway as the console asks it. Paths, parameters and answers are those of the OpenAPI document (`generated.d.ts`),
 * so a route that changes breaks the build. The session goes along as a cookie; nothing is kept here.
 */
import createClient from 'openapi-fetch'
import { loadTexts } from '../texts/languages.ts'
import { ApiError } from './api-error.ts'
import type { paths } from './generated.d.ts'

/**
 * Every answer is asked for anew, and 304 where it is the same: on the way back to an earlier page browsers would take what
 * they keep without asking, also after a sign-out and for another organisation.
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

/** Such an answer is used once, by the first request for the own account. */
function takeAsked({ url, method, headers }: Request): Promise<Response> | undefined {
  if (method !== 'GET' || headers.has('Gw-Organisation')) return undefined
  const answer = globalThis.sluiceAsked?.get(url)
  globalThis.sluiceAsked?.delete(url)
  return answer
}

/** What the client resolves to, whichever route was asked. */
interface Answered<Body> {
  readonly data?: Body
  readonly error?: unknown
  readonly response: Response
}

/** The whole body of a good answer; rejects with `ApiError` otherwise. */
export async function answerOf<Body>(asked: Promise<Answered<Body>>): Promise<NonNullable<Body>> {
  const { data, error, response } = await asked.catch((cause: unknown) => {
    throw ApiError.unreachable(cause)
  })
  if (data !== undefined && data !== null) return data
  const refusal = ApiError.of(error, response)
  // What it says, in the person's language; without it, in the gateway's own words.
  if (refusal.said !== undefined || refusal.faults.length > 0) await loadTexts('rules').catch(() => undefined)
  throw refusal
}

/** `data` of a good answer in our envelope. */
export async function dataOf<Data>(asked: Promise<Answered<{ readonly data: Data }>>): Promise<Data> {
  return (await answerOf(asked)).data
}

/** The header that says for whom: an organisation, or oneself. */
export function actingFor(organisation: string | undefined): { 'Gw-Organisation'?: string } {
  return organisation === undefined ? {} : { 'Gw-Organisation': organisation }
}
