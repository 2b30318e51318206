/** Minimal requests to endpoints other than conversations. */
import { type Json, textOf } from '../values/json.ts'

export interface OtherCall {
  /** In a form only texts. */
  readonly fields: Readonly<Record<string, Json>>
  /** The method of OpenAI's library; absent: the library lacks the endpoint. */
  readonly method?: string
  /** The field and the name of a file, for requests that are forms. */
  readonly file?: readonly [field: string, name: string]
}

const PICTURE = 'A gate over a wave'
const RANKED = { query: 'Hello', documents: ['Good morning', 'Good night'] }
const CONTENT = { parts: [{ text: 'Hello' }] }

/** If a model has several, the first in this list is used for the snippet. */
const OTHER_CALLS: Readonly<Record<string, OtherCall>> = {
  '/v1/images/generations': { fields: { prompt: PICTURE }, method: 'images.generate' },
  '/v1/images/edits': { fields: { prompt: PICTURE }, method: 'images.edit', file: ['image', 'picture.png'] },
  '/v1/images/variations': {
    fields: {},
    method: 'images.create_variation',
    file: ['image', 'picture.png'],
  },
  '/v1/videos': { fields: { prompt: PICTURE, seconds: '5' }, method: 'videos.create' },
  '/v1/embeddings': { fields: { input: 'Hello' }, method: 'embeddings.create' },
  '/v1beta/models/{model}:embedContent': { fields: { content: CONTENT } },
  '/v1/audio/speech': { fields: { input: 'Hello', voice: 'alloy' }, method: 'audio.speech.create' },
  '/v1/audio/transcriptions': {
    fields: {},
    method: 'audio.transcriptions.create',
    file: ['file', 'speech.mp3'],
  },
  '/v1/audio/translations': { fields: {}, method: 'audio.translations.create', file: ['file', 'speech.mp3'] },
  '/v1/moderations': { fields: { input: 'Hello' }, method: 'moderations.create' },
  '/v2/rerank': { fields: RANKED },
  '/v1/rerank': { fields: RANKED },
}

export function otherCallAt(path: string): OtherCall | undefined {
  return Object.hasOwn(OTHER_CALLS, path) ? OTHER_CALLS[path] : undefined
}

/** The path to use in snippets for a model with these endpoints; undefined: none is known. */
export function shownPath(endpoints: readonly string[]): string | undefined {
  return Object.keys(OTHER_CALLS).find((path) => endpoints.includes(path))
}

/** The body of such a call; without the model if the path contains it. */
export function bodyOfOther({ fields }: OtherCall, path: string, model: string): Record<string, Json> {
  return namesModel(path) ? { ...fields } : { model, ...fields }
}

/** The path with the model filled in. */
export function pathFor(path: string, model: string): string {
  return path.replace(MODEL, encodeURIComponent(model))
}

const MODEL = '{model}'
const namesModel = (path: string): boolean => path.includes(MODEL)

export interface CurlFacts {
  /** The gateway's base URL without a trailing slash. */
  readonly baseUrl: string
  readonly secret: string
}

/** A curl command that sends this body as JSON. */
export function curlWith(path: string, body: string, { baseUrl, secret }: CurlFacts): string {
  return `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d ${quoted(body)}`
}

/** A curl command for such a call. */
export function curlOfOther(
  path: string,
  other: OtherCall,
  { model, ...facts }: CurlFacts & { readonly model: string },
): string {
  const body = bodyOfOther(other, path, model)
  const shown = pathFor(path, model)
  if (other.file === undefined) {
    const rows = Object.entries(body).map(([name, value]) => `    "${name}": ${JSON.stringify(value)}`)
    return curlWith(shown, `{\n${rows.join(',\n')}\n  }`, facts)
  }
  const [field, file] = other.file
  const parts = [
    ...Object.entries(body).map(([name, value]) => `${name}=${textOf(value)}`),
    `${field}=@${file}`,
  ]
  return `curl ${facts.baseUrl}${shown} \\
  -H "Authorization: Bearer ${facts.secret}" \\
  ${parts.map((part) => `-F ${/^[\w.@=-]+$/.test(part) ? part : quoted(part)}`).join(' ')}`
}

/** Quotes a text as one word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
