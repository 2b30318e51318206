/** A call to be explained, not made. */
import { say } from '../../../core/sentences/say.ts'
import * as z from 'zod'
import { WIRE_IDS } from '../../../core/catalogue.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { pathsOf } from '../../../pipeline/kinds/index.ts'
import { listensTo, wireOf } from '../../../pipeline/kinds/wire.ts'

/** A hundred days of sound: more than any body can contain. */
const SOUND_SECONDS_MAX = 8_640_000

export const explainBody = z.strictObject({
  protocol: z.enum(WIRE_IDS).default('chat').meta({ description: 'The protocol of `body`.' }),
  body: z.record(z.string(), z.unknown()).meta({ description: 'The body the call would have.' }),
  path: z.string().optional().meta({
    description:
      'Where the call would go, of a protocol with several paths (images, rerank, transcription); if absent, to its usual one.',
  }),
  key_id: z.string().optional().meta({
    description: 'The API key that would call; needed with a session, with an API key it is itself.',
  }),
  address: z.enum(['base', 'gateway']).default('base'),
  model: z.string().optional().meta({ description: 'Gemini only, which names it in the path.' }),
  stream: z.boolean().optional().meta({ description: 'Gemini only, which says it in the path.' }),
  audio_seconds: z.number().min(0).max(SOUND_SECONDS_MAX).optional().meta({
    description:
      'Transcription only, and required there: how long the sound of the form would play. The form itself is not sent; `body` holds its other fields.',
  }),
})

/** The pipeline's question, besides the caller. */
export function questionOf(asked: z.output<typeof explainBody>) {
  const { protocol, body, path, address, model, stream, audio_seconds: soundSeconds } = asked
  const paths = pathsOf(protocol)
  if (path !== undefined && !paths.includes(path)) {
    throw new GatewayError(40000, {
      message: say('path-of-protocol', { protocol, paths: paths.join(' or ') }),
    })
  }
  if (soundSeconds === undefined && listensTo(protocol)) {
    throw new GatewayError(40000, { message: say('audio-seconds-needed') })
  }
  const inPath = wireOf(protocol).requests.modelPlace === 'path'
  return {
    address,
    ip: undefined,
    protocol,
    path,
    pathModel: inPath ? model : undefined,
    stream: inPath ? (stream ?? false) : undefined,
    body: Buffer.from(JSON.stringify(body)),
    soundSeconds,
  }
}
