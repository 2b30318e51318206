/** JSON bodies of the management API: limited in depth before anything traverses them. */
import { say } from '../../../core/sentences/say.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Api } from '../api-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The JSON body, character by character: signatures are computed over exactly these bytes. Empty if there is none.
     */
    bodyText: string
  }
}

/** The deepest valid body has fewer than ten levels; a gateway file may have some more. */
const DEPTH_MAX = 32
/** The largest list that is sent, a thousand codes or rows of a catalogue, has a tenth of these. */
const MEMBERS_MAX = 20_000

/**
 * Replaces the framework's parser: an empty body counts as absent, a deeply nested one is refused before it is parsed.
 */
export function readJsonBodies(app: Api): void {
  app.decorateRequest('bodyText', '')
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = String(body)
    if (text.trim() === '') return done(null, undefined)
    if (isDeeperThan(text, DEPTH_MAX)) {
      return done(new GatewayError(40000, { message: say('body-too-deep', { most: DEPTH_MAX }) }))
    }
    if (hasMoreThan(text, MEMBERS_MAX)) {
      return done(new GatewayError(40000, { message: say('body-too-many-members', { most: MEMBERS_MAX }) }))
    }
    request.bodyText = text
    return parse(request, text, (error, value) => done(error === null ? null : told(error, text), value))
  })
}

/** The framework's parser reports a forbidden name as if it were a syntax error. */
function told(error: Error, text: string): Error {
  try {
    JSON.parse(text)
  } catch (mistake) {
    if (mistake instanceof SyntaxError) return error
    throw mistake
  }
  return new GatewayError(40000, {
    message: say('body-names-not-allowed'),
  })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

/** Each member but the first of its container follows a comma; commas inside strings are too few to matter. */
function hasMoreThan(text: string, commasMax: number): boolean {
  if (text.length <= commasMax) return false
  let commas = 0
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    commas += 1
    if (commas > commasMax) return isFull(text, commasMax)
  }
  return false
}

/** The same, ignoring strings. */
function isFull(text: string, commasMax: number): boolean {
  let commas = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COMMA) {
      commas += 1
      if (commas > commasMax) return true
    }
  }
  return false
}

/** Counts brackets outside strings; invalid JSON is left to the parser. */
function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > depthMax) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}
