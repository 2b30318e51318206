/** Transcription by vendors that answer with a document: the format the client asked for, and the text in that format. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { FilesTold, Sound } from '../provider.ts'
import { srtOf, type TimedText, vttOf } from './subtitles.ts'

/** A vendor's transcription. */
export interface WrittenDown {
  readonly text: string
  /** As the vendor names it. */
  readonly language?: string | undefined
  /** Sentences; absent: their times are not known. */
  readonly segments?: readonly TimedText[]
  readonly words?: readonly TimedText[]
}

const PLAIN = ['json', 'text']
const TIMED = ['verbose_json', 'srt', 'vtt']

/** Why such a vendor cannot do this, as a message for the client; undefined: it can. `times`: it reports time stamps. */
export function cannotBeWritten(
  { response_format: format, stream }: JsonObject,
  { files }: Pick<FilesTold, 'files'>,
  { times }: { readonly times: boolean },
): string | undefined {
  const formats = times ? [...PLAIN, ...TIMED] : PLAIN
  if (format !== undefined && format !== '' && !formats.some((known) => known === format))
    return `response_format: this model writes ${formats.join(', ')}`
  if (isTrue(stream) && format !== undefined && !PLAIN.some((known) => known === format))
    return `stream: only ${PLAIN.join(' and ')} can be streamed`
  return files.length > 1 ? 'file: this model takes one file per call' : undefined
}

/** What the answer needs from its request. */
export function writingAsked(
  { response_format: format, stream, language }: JsonObject,
  soundSeconds: number,
): JsonObject {
  return {
    format: typeof format === 'string' && format !== '' ? format : 'json',
    events: isTrue(stream),
    language: typeof language === 'string' ? language : null,
    seconds: soundSeconds,
  }
}

/** Fields of forms are texts. */
function isTrue(value: JsonValue | undefined): boolean {
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true')
}

/** `usage`: tokens that the vendor reported; absent: the duration, as it is charged. */
export function writtenAs(heard: WrittenDown, asked: JsonObject, told?: JsonObject): Sound {
  const { format, seconds: played } = asked
  const seconds = typeof played === 'number' ? played : 0
  const usage = told ?? { type: 'duration', seconds }
  const { text } = heard
  if (asked['events'] === true) {
    const events = [
      ...(text === '' ? [] : [{ type: 'transcript.text.delta', delta: text }]),
      { type: 'transcript.text.done', text, usage },
    ]
    const data = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    return written('text/event-stream; charset=utf-8', data)
  }
  switch (typeof format === 'string' ? format : 'json') {
    case 'text':
      return written('text/plain; charset=utf-8', `${text}\n`)
    case 'srt':
      return written('text/plain; charset=utf-8', srtOf(heard.segments ?? []) || '\n')
    case 'vtt':
      return written('text/vtt; charset=utf-8', vttOf(heard.segments ?? []))
    case 'verbose_json':
      return written('application/json', JSON.stringify({ ...verbose(heard, asked, seconds), usage }))
    default:
      return written('application/json', JSON.stringify({ text, usage }))
  }
}

function verbose(
  { text, language, segments = [], words }: WrittenDown,
  asked: JsonObject,
  duration: number,
): JsonObject {
  return {
    task: 'transcribe',
    language: language ?? asked['language'] ?? 'unknown',
    duration,
    text,
    segments: segments.map((piece, id) => ({
      id,
      seek: 0,
      start: piece.start,
      end: piece.end,
      text: piece.text,
      tokens: [],
      temperature: 0,
    })),
    ...(words === undefined
      ? {}
      : { words: words.map(({ text: word, start, end }) => ({ word, start, end })) }),
  }
}

function written(type: string, text: string): Sound {
  return { type, bytes: new TextEncoder().encode(text) }
}

/** Tokens in OpenAI's form; undefined: not reported. */
export function reportedTokens(usage: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(usage)) return undefined
  const { input_tokens: input, output_tokens: output } = usage
  if (typeof input !== 'number' || typeof output !== 'number') return undefined
  return { type: 'tokens', input_tokens: input, output_tokens: output, total_tokens: input + output }
}
