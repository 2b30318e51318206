/**
 * Transcription by Paraformer, Fun-ASR, SenseVoice and models for long files: a task about a file that the vendor fetches,
 * whose result lies at an address of its own.
 */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { TimedText } from '../dialects/subtitles.ts'
import type { WrittenDown } from '../dialects/written-down.ts'
import type { TaskForm, UploadForm } from '../provider.ts'
import { errorIn, outputOf } from './answer.ts'
import { readTask } from './tasks.ts'
import { askForPlace, placeIn } from './uploads.ts'

export const TRANSCRIPTION_TASKS = '/api/v1/services/audio/asr/transcription'
/** The first makes a task of it, the second lets it read its own store. */
export const TASK_HEADERS = { 'x-dashscope-async': 'enable', 'x-dashscope-ossresourceresolve': 'enable' }

/** Of one file. */
export const FILE_SECONDS_MAX = 43_200

const OF_FILES = /-filetrans\b|^(?:paraformer|sensevoice|fun-asr(?!-flash))/
/** A variant of the form: one address, and other settings. */
const OF_ONE_ADDRESS = /^qwen3-asr-flash-filetrans/
/** These are told no language. */
const OF_ONE_LANGUAGE = /^paraformer-(?!v2)/
/** These write what they hear of moods and noises between the words, as `<|HAPPY|>`. */
const OF_MARKS = /^sensevoice/

export function isOfFiles(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && OF_FILES.test(model)
}

function isOfOneAddress(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && OF_ONE_ADDRESS.test(model)
}

/** What a client may say of the sound, besides its format. */
export interface FileAsked {
  readonly model: JsonValue | undefined
  readonly language: JsonValue | undefined
  /** Numbers as digits. */
  readonly itn: boolean | undefined
  /** The times of words. */
  readonly words: boolean
}

/** `input` is filled in once the file has an address. The settings stand there even if there are none, or the task fails. */
export function fileBody({ model, language, itn, words }: FileAsked): {
  readonly members: JsonObject
  readonly dropped: readonly string[]
} {
  // Each channel is billed by itself, and the gateway counts the sound once.
  const channels = { channel_id: [0] }
  if (isOfOneAddress(model)) {
    const said = {
      ...(language === undefined ? {} : { language }),
      ...(itn === undefined ? {} : { enable_itn: itn }),
      ...(words ? { enable_words: true } : {}),
    }
    return { members: { input: {}, parameters: { ...channels, ...said } }, dropped: [] }
  }
  const isTold = language !== undefined && !(typeof model === 'string' && OF_ONE_LANGUAGE.test(model))
  return {
    members: {
      input: {},
      parameters: { ...channels, ...(isTold ? { language_hints: [language] } : {}) },
    },
    dropped: [
      ...(language !== undefined && !isTold ? ['language'] : []),
      ...(itn === undefined ? [] : ['enable_itn']),
    ],
  }
}

/** What reading the result needs of the request. */
export function readingAsked({ model, words }: Pick<FileAsked, 'model' | 'words'>): JsonObject {
  return { words, marks: typeof model === 'string' && OF_MARKS.test(model) }
}

export const fileUploads: UploadForm = {
  isUploaded: isOfFiles,
  ask: askForPlace,
  place: placeIn,
  withFile: (request, address) => ({
    ...request,
    input: isOfOneAddress(request['model']) ? { file_url: address } : { file_urls: [address] },
  }),
}

export const fileTasks: TaskForm = {
  isTask: isOfFiles,
  read: (reply, input) => {
    const step = readTask(reply, input)
    const link = step === 'over' ? fileIn(reply.body)['transcription_url'] : undefined
    return typeof link === 'string' ? { result: link } : step
  },
}

/** What a task says of its only file. */
function fileIn(body: JsonObject): JsonObject {
  const { result, results } = outputOf(body)
  if (isJsonObject(result)) return result
  const first = isJsonArray(results) ? results[0] : undefined
  return isJsonObject(first) ? first : {}
}

/** The vendor reports a file without speech as a failure. */
const SILENCE = 'SUCCESS_WITH_NO_VALID_FRAGMENT'

/** Why a task made no text; undefined: it did, or it does not say. */
export function fileErrorIn(body: JsonObject): JsonObject | undefined {
  const { task_status: status } = outputOf(body)
  const error = errorIn({ output: fileIn(body) }) ?? errorIn(body)
  if (error !== undefined) return error['code'] === SILENCE ? undefined : error
  const isUnmade = status === 'FAILED' || status === 'CANCELED'
  return isUnmade && !isSilent(body) ? { code: status, message: status } : undefined
}

function isSilent(body: JsonObject): boolean {
  return [outputOf(body), fileIn(body)].some(({ code }) => code === SILENCE)
}

/** undefined: this is no result. */
export function heardInFile(body: JsonObject, context: JsonObject): WrittenDown | undefined {
  if (isSilent(body)) return { text: '', segments: [] }
  const { transcripts } = body
  if (!isJsonArray(transcripts)) return undefined
  const tracks = transcripts.filter(isJsonObject)
  const texts = tracks.map(({ text }) => text).filter((text) => typeof text === 'string')
  if (texts.length < transcripts.length) return undefined
  const sentences = tracks.flatMap(({ sentences: said }) => objectsIn(said))
  const language = sentences.map((sentence) => sentence['language']).find((said) => typeof said === 'string')
  const plain = (text: string): string => (context['marks'] === true ? withoutMarks(text) : text)
  return {
    text: plain(texts.join('\n')),
    language,
    segments: sentences.flatMap(timedIn).map((piece) => ({ ...piece, text: plain(piece.text) })),
    ...(context['words'] === true
      ? { words: sentences.flatMap(({ words }) => objectsIn(words).flatMap(timedIn)).map(trimmed) }
      : {}),
  }
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : []
}

const MS_PER_SECOND = 1_000

function timedIn({ text, begin_time: begin, end_time: end }: JsonObject): readonly TimedText[] {
  if (typeof text !== 'string' || typeof begin !== 'number' || typeof end !== 'number') return []
  return [{ text, start: begin / MS_PER_SECOND, end: end / MS_PER_SECOND }]
}

function trimmed(piece: TimedText): TimedText {
  return { ...piece, text: piece.text.trim() }
}

function withoutMarks(text: string): string {
  return text.replace(/<\|\/?\w+\|>/g, '').trim()
}
