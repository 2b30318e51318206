/** Speech by Mistral: OpenAI's address, a voice by its id, and the sound as base64 in a document (docs/protocols.md#speech). */
import { fromBase64 } from '../dialects/base64.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { soundAs, soundAsked, voiceName } from '../dialects/speech.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'

const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['opus', 'audio/opus'],
  ['pcm', 'audio/pcm'],
])

const NAMES = {
  model: 'model',
  input: 'input',
  voice_id: 'voice_id',
  ref_audio: 'ref_audio',
  metadata: 'metadata',
  prompt_cache_key: 'prompt_cache_key',
}

const rewrite: FormRewrite = {
  request: ({ voice, response_format: given, stream_format: events, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    const voiceId = members['voice_id'] ?? voiceName(voice)
    const format = given ?? 'mp3'
    return {
      body: {
        ...members,
        ...(voiceId === undefined || voiceId === null ? {} : { voice_id: voiceId }),
        response_format: format,
        stream: false,
      },
      dropped,
      context: soundAsked({ response_format: format, stream_format: events }),
    }
  },
  answer: ({ audio_data: sound }) => (typeof sound === 'string' ? {} : undefined),
  sound: ({ audio_data: data }, context) => {
    const made = typeof data === 'string' ? fromBase64(data) : undefined
    if (made === undefined || made.length === 0) return undefined
    const { format } = context
    const bytes = format === 'pcm' ? samplesOf(made) : made
    return bytes && soundAs({ type: TYPES.get(format) ?? 'application/octet-stream', bytes }, context)
  },
}

/** Samples as OpenAI has them, whole numbers of two bytes; this vendor's are fractions of four. */
function samplesOf(fractions: Uint8Array): Uint8Array | undefined {
  if (fractions.length % 4 !== 0) return undefined
  const from = Buffer.from(fractions.buffer, fractions.byteOffset, fractions.length)
  const to = Buffer.alloc(fractions.length / 2)
  for (let at = 0; at < to.length; at += 2) {
    const loud = Math.max(-1, Math.min(1, from.readFloatLE(at * 2)))
    to.writeInt16LE(Number.isNaN(loud) ? 0 : Math.round(loud * 32_767), at)
  }
  return to
}

export const mistralSpeech: PassedDialect = passedDialect({
  protocol: 'speech',
  path: '/audio/speech',
  rewrite,
})
