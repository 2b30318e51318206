/** States the duration of the sound, in every format of OpenAI's: whole, or in pieces as a stream. */
import type { OfflineAnswer, OfflineChunk } from '../../core/offline-answer.ts'
import type { JsonObject } from '../../core/json.ts'
import { audioPath } from '../dialects/audio-path.ts'
import { passedDialect } from '../dialects/passed.ts'
import { srtOf, vttOf } from '../dialects/subtitles.ts'
import type { OfflineRequest, PassedDialect } from '../provider.ts'
import { SANDBOX_TRANSCRIPTION_MODEL } from './models.ts'
import { json } from './respond.ts'

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt']

export const sandboxTranscription: PassedDialect = {
  ...passedDialect({ protocol: 'transcription', path: audioPath, auth: { kind: 'none' } }),
  respond,
}

function respond({ form, forwardModelId, id, at }: OfflineRequest): OfflineAnswer {
  const stamp = { id: id.replace(/[^A-Za-z0-9]/g, ''), createdAt: Math.floor(at / 1_000) }
  const refuse = (status: number, message: string, code: string): OfflineAnswer =>
    json(status, { error: { message, type: 'invalid_request_error', param: null, code } }, stamp)
  if (forwardModelId !== SANDBOX_TRANSCRIPTION_MODEL)
    return refuse(404, `The sandbox has no model ${forwardModelId}.`, 'model_not_found')
  const seconds = form?.soundSeconds ?? 0
  const format = form?.fields.get('response_format') ?? 'json'
  if (!FORMATS.includes(format))
    return refuse(400, `'response_format' must be one of ${FORMATS.join(', ')}.`, 'invalid_value')
  const text = `Somebody speaks for ${seconds} seconds.`
  const answer = json(200, documentOf(format, text, seconds), stamp)
  if (form?.fields.get('stream')?.toLowerCase() === 'true')
    return {
      ...answer,
      headers: { ...answer.headers, 'content-type': 'text/event-stream' },
      chunks: events(text),
    }
  if (format === 'json' || format === 'verbose_json') return answer
  return {
    ...answer,
    headers: { ...answer.headers, 'content-type': 'text/plain; charset=utf-8' },
    chunks: [{ data: textOf(format, text, seconds), afterMs: 0 }],
  }
}

function documentOf(format: string, text: string, seconds: number): JsonObject {
  const usage = { type: 'duration', seconds: Math.ceil(seconds) }
  if (format !== 'verbose_json') return { text, usage }
  const segment = { id: 0, seek: 0, start: 0, end: seconds, text, tokens: [], temperature: 0 }
  return { task: 'transcribe', language: 'english', duration: seconds, text, segments: [segment], usage }
}

function textOf(format: string, text: string, seconds: number): string {
  switch (format) {
    case 'srt':
      return srtOf([{ text, start: 0, end: seconds }])
    case 'vtt':
      return vttOf([{ text, start: 0, end: seconds }])
    default:
      return `${text}\n`
  }
}

function* events(text: string): Iterable<OfflineChunk> {
  for (const delta of text.split(/(?<= )/)) yield event({ type: 'transcript.text.delta', delta })
  yield event({ type: 'transcript.text.done', text })
}

function event(data: JsonObject): OfflineChunk {
  return { data: `data: ${JSON.stringify(data)}\n\n`, afterMs: 0 }
}
