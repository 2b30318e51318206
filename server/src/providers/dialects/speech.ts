/** Speech of vendors that answer with a document: the format the client asked for, and the sound in that format. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { Sound } from '../provider.ts'

/** What the answer needs from its request. */
export function soundAsked({ response_format: format, stream_format: stream }: JsonObject): JsonObject {
  return { format: typeof format === 'string' ? format : null, events: stream === 'sse' }
}

/** A voice by its name, or by its id in an object. */
export function voiceName(voice: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(voice) ? voice['id'] : voice
}

/** If events were requested, the sound comes in one event, because the vendor returns it whole. */
export function soundAs({ type, bytes }: Sound, { events }: JsonObject, usage?: JsonObject): Sound {
  if (events !== true) return { type, bytes }
  const told = [
    { type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') },
    { type: 'speech.audio.done', ...(usage === undefined ? {} : { usage }) },
  ]
  const text = told.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return { type: 'text/event-stream; charset=utf-8', bytes: new TextEncoder().encode(text) }
}
