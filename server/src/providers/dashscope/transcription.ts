/**
 * Transcription by Qwen-ASR and Fun-ASR-Flash, which accept the sound inside the request (up to five minutes, and ten
 * megabytes as base64), and by models that take files (`file-transcription.ts`).
 */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { toBase64 } from '../dialects/base64.ts'
import { passedDialect } from '../dialects/passed.ts'
import { soundKindOf } from '../dialects/sound-kind.ts'
import {
  cannotBeWritten,
  reportedTokens,
  type WrittenDown,
  writingAsked,
  writtenAs,
} from '../dialects/written-down.ts'
import type { FilesTold, FormRewrite, PassedDialect, RewrittenRequest, SentFiles } from '../provider.ts'
import { GENERATION, ofApi } from './address.ts'
import { outputOf } from './answer.ts'
import { WORDS } from './failure-words.ts'
import { TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import {
  FILE_SECONDS_MAX,
  fileBody,
  fileErrorIn,
  fileTasks,
  fileUploads,
  heardInFile,
  isOfFiles,
  readingAsked,
  TASK_HEADERS,
  TRANSCRIPTION_TASKS,
} from './file-transcription.ts'

/** Size as base64. */
const SOUND_BYTES_MAX = 10 * 1024 * 1024
const SECONDS_MAX = 300

const OVER_A_SOCKET = /-(?:realtime|streaming)\b/
/** A variant of the vendor's form: another name for the sound, and another field for the text. */
const OF_RECORDINGS = /^(?:qwen-audio-3\.\d+-asr-flash|fun-asr-flash)/

function isOfRecordings(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && OF_RECORDINGS.test(model)
}

const rewrite: FormRewrite = {
  refuses: (fields, sent) => {
    const times = isOfFiles(fields['model'])
    return cannotBeWritten(fields, sent, { times }) ?? (times ? fileTooLong(sent) : tooLong(sent))
  },
  request: (fields, sent) =>
    isOfFiles(fields['model']) ? fileRequest(fields, sent) : soundRequest(fields, sent),
  answer: (body, context) => {
    const error = fileErrorIn(body)
    if (error !== undefined) return { error }
    const usage = reportedTokens(body['usage'])
    if (heardIn(body, context) === undefined) return undefined
    return usage === undefined ? {} : { usage }
  },
  sound: (body, context) => {
    const heard = heardIn(body, context)
    return heard && writtenAs(heard, context, reportedTokens(body['usage']))
  },
}

function soundRequest(fields: JsonObject, sent: SentFiles | undefined): RewrittenRequest {
  const { model, language, prompt, enable_itn: itn, response_format, stream, ...rest } = fields
  const { sound, others } = soundIn(sent)
  const asked = { language, prompt, itn: itn === undefined ? undefined : itn === 'true' }
  const body = isOfRecordings(model) ? recordingBody(sound, asked) : conversationBody(sound, asked)
  return {
    body: { model, ...body.members },
    dropped: [...Object.keys(rest), ...body.dropped, ...others],
    context: writingAsked({ response_format, stream, language }, sent?.soundSeconds ?? 0),
  }
}

function fileRequest(fields: JsonObject, sent: SentFiles | undefined): RewrittenRequest {
  const { model, language, enable_itn: itn, timestamp_granularities: times, ...others } = fields
  const { response_format, stream, ...rest } = others
  const asked = {
    model,
    language,
    itn: itn === undefined ? undefined : itn === 'true',
    words: times !== undefined,
  }
  const { members, dropped } = fileBody(asked)
  return {
    body: { model, ...members },
    dropped: [...Object.keys(rest), ...dropped, ...otherFiles(sent)],
    context: {
      ...writingAsked({ response_format, stream, language }, sent?.soundSeconds ?? 0),
      ...readingAsked(asked),
    },
  }
}

function fileTooLong({ soundSeconds }: FilesTold): string | undefined {
  return soundSeconds > FILE_SECONDS_MAX ? 'file: this model takes up to 12 hours of sound' : undefined
}

function tooLong({ files, soundSeconds }: FilesTold): string | undefined {
  if (soundSeconds > SECONDS_MAX) return 'file: this model takes up to 5 minutes of sound'
  const [sound] = files
  const bytes = sound === undefined ? 0 : Math.ceil(sound.size / 3) * 4
  return bytes > SOUND_BYTES_MAX ? 'file: this model takes up to 7.5 MiB of sound' : undefined
}

interface HeardFile {
  /** A `data:` address. */
  readonly address: string
  /** undefined: unknown. */
  readonly format: string | undefined
}

function soundIn(sent: SentFiles | undefined): { sound: HeardFile; others: readonly string[] } {
  const files = sent?.files ?? []
  const bytes = files.find(({ name }) => name === 'file')?.bytes() ?? new Uint8Array(0)
  const kind = soundKindOf(bytes)
  return {
    sound: {
      address: `data:${kind?.type ?? 'application/octet-stream'};base64,${toBase64(bytes)}`,
      format: kind?.format,
    },
    others: otherFiles(sent),
  }
}

function otherFiles(sent: SentFiles | undefined): readonly string[] {
  return (sent?.files ?? []).map(({ name }) => name).filter((name) => name !== 'file')
}

interface Asked {
  readonly language: JsonValue | undefined
  /** A hint about its subject. */
  readonly prompt: JsonValue | undefined
  /** Whether to write numbers as digits. */
  readonly itn: boolean | undefined
}

interface Formed {
  readonly members: JsonObject
  readonly dropped: readonly string[]
}

function conversationBody({ address }: HeardFile, { language, prompt, itn }: Asked): Formed {
  const options = {
    ...(language === undefined ? {} : { language }),
    ...(itn === undefined ? {} : { enable_itn: itn }),
  }
  return {
    members: {
      input: {
        messages: [
          ...(prompt === undefined ? [] : [{ role: 'system', content: [{ text: prompt }] }]),
          { role: 'user', content: [{ audio: address }] },
        ],
      },
      parameters: Object.keys(options).length === 0 ? {} : { asr_options: options },
    },
    dropped: [],
  }
}

function recordingBody({ address, format }: HeardFile, { language, prompt, itn }: Asked): Formed {
  const sound = { role: 'user', content: [{ type: 'input_audio', input_audio: { data: address } }] }
  return {
    members: {
      input: { messages: [sound] },
      parameters: {
        ...(format === undefined ? {} : { format: format === 'ogg' ? 'opus' : format }),
        ...(language === undefined ? {} : { language_hints: [language] }),
      },
    },
    dropped: [...(prompt === undefined ? [] : ['prompt']), ...(itn === undefined ? [] : ['enable_itn'])],
  }
}

/** Silence has an empty text. undefined: there is no text, or it is incomplete. */
function heardIn(body: JsonObject, context: JsonObject): WrittenDown | undefined {
  const ofFile = heardInFile(body, context)
  if (ofFile !== undefined) return ofFile
  const { choices, text } = outputOf(body)
  if (typeof text === 'string') return { text }
  const first = isJsonArray(choices) ? choices[0] : undefined
  if (!isJsonObject(first) || !isWhole(first['finish_reason'])) return undefined
  const { message } = first
  if (!isJsonObject(message) || !isJsonArray(message['content'])) return undefined
  const parts = message['content'].filter(isJsonObject).map((part) => part['text'])
  return { text: parts.filter((part) => typeof part === 'string').join('') }
}

function isWhole(reason: JsonValue | undefined): boolean {
  return reason === undefined || reason === 'stop'
}

export const dashscopeTranscription: PassedDialect = {
  ...passedDialect({ protocol: 'transcription', path: '', words: WORDS, rewrite }),
  paths: [TRANSCRIPTIONS],
  form: ({ baseUrl, operation, forwardModelId }) => {
    if (operation === 'count-tokens' || OVER_A_SOCKET.test(forwardModelId)) return undefined
    return isOfFiles(forwardModelId)
      ? { method: 'POST', url: ofApi(baseUrl, TRANSCRIPTION_TASKS), headers: TASK_HEADERS }
      : { method: 'POST', url: ofApi(baseUrl, GENERATION), headers: {} }
  },
  tasks: fileTasks,
  uploads: fileUploads,
}
