/** What is sent to an endpoint that makes no conversation, as small as it may be. */
import { type Json, textOf } from '../values/json.ts'

export interface OtherCall {
  /** Of a form only texts. */
  readonly fields: Readonly<Record<string, Json>>
  /** What OpenAI's library calls it; absent: it does not know the endpoint. */
  readonly method?: string
  /** A file of the caller's, so that the call is a form: its field and a name for it. */
  readonly file?: readonly [field: string, name: string]
}

const PICTURE = 'A gate over a wave'
const RANKED = { query: 'Hello', documents: ['Good morning', 'Good night'] }
const CONTENT = { parts: [{ text: 'Hello' }] }

/** Where a model has several, the first one named here shows how it is called. */
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

/** The path that shows how a model with these is called; undefined: none is known. */
export function shownPath(endpoints: readonly string[]): string | undefined {
  return Object.keys(OTHER_CALLS).find((path) => endpoints.includes(path))
}

/** The body of such a call; the model stands in the path where that names it. */
export function bodyOfOther({ fields }: OtherCall, path: string, model: string): Record<string, Json> {
  return namesModel(path) ? { ...fields } : { model, ...fields }
}

/** With the model in its place. */
export function pathFor(path: string, model: string): string {
  return path.replace(MODEL, encodeURIComponent(model))
}

const MODEL = '{model}'
const namesModel = (path: string): boolean => path.includes(MODEL)

export interface CurlFacts {
  /** Of the gateway, without a slash at the end. */
  readonly baseUrl: string
  readonly secret: string
}

/** A line for the shell that sends this body as JSON. */
export function curlWith(path: string, body: string, { baseUrl, secret }: CurlFacts): string {
  return `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d ${quoted(body)}`
}

/** A line for the shell that makes such a call. */
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

/** One word of the shell, whatever stands in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
