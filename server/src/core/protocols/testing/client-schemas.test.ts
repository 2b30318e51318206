/** Every chunk the encoders make, held against the schemas that widely used clients check each one with. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { READERS, type Reader } from '../../../../test/protocols/ai-sdk.ts'
import { findRecordings, type Recording } from '../../../../test/recordings.ts'
import { foldStream, unfoldResponse } from '../../canonical/fold.ts'
import { parseJson } from '../../canonical/json-text.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse, StreamPart } from '../../canonical/response.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../catalogue.ts'
import { isJsonObject } from '../../json.ts'
import { protocolOf } from '../index.ts'
import {
  canonicalResponseArbitrary,
  decodeStream,
  encodeStream,
  PLAIN_REQUEST,
  replyContext,
} from './laws.ts'
import { objectOf } from '../read-json.ts'

/** A client that wants to see everything. */
const ASKED: CanonicalRequest = {
  ...PLAIN_REQUEST,
  reasoning: { effort: 'high', budgetTokens: undefined, expose: true, summary: 'auto' },
}

const recorded = PROTOCOL_IDS.flatMap((id) =>
  findRecordings(id).flatMap((recording) => {
    const response = answerOf(id, recording)
    return response === undefined ? [] : [{ name: `${id}: ${recording.name}`, ...response }]
  }),
)

describe.each(READERS.map((reader) => [reader.name, reader] as const))('%s reads', (_name, reader) => {
  const sayable = recorded.filter(({ whole }) => saysInWordsOf(reader, whole))

  test.each(sayable.map((each) => [each.name, each] as const))('%s', async (_recording, { parts, whole }) => {
    await expectHeard(reader, parts, whole)
  })

  test('every answer the encoders can make, streamed and whole', async () => {
    await fc.assert(
      fc.asyncProperty(canonicalResponseArbitrary(), async (any) => {
        const response = { ...any, candidates: any.candidates.slice(0, 1) }
        fc.pre(saysInWordsOf(reader, response))
        await expectHeard(reader, unfoldResponse(response), response)
      }),
      { numRuns: 40 },
    )
  })
})

/** Free-text tools are sent only to chat clients that declared some, and a vendor's own items only to its own clients: not to these. */
function saysInWordsOf({ protocol }: Reader, { candidates }: CanonicalResponse): boolean {
  return candidates.every(({ blocks }) =>
    blocks.every((block) => {
      if (block.type === 'opaque') return block.protocol !== protocol || protocol !== 'responses'
      return block.type !== 'tool-call' || block.kind === 'function' || protocol !== 'chat'
    }),
  )
}

async function expectHeard(
  reader: Reader,
  parts: readonly StreamPart[],
  whole: CanonicalResponse,
): Promise<void> {
  const protocol = protocolOf(reader.protocol)
  const streamed = await reader.stream(encodeStream(protocol, parts, ASKED))
  expect(streamed.errors).toEqual([])
  const said = whole.candidates[0]?.blocks ?? []
  const names = said.flatMap((block) => (block.type === 'tool-call' ? [block.name] : []))
  expect(streamed.calls.map(({ name }) => name)).toEqual(names)
  const read = await reader.whole(protocol.encodeResponse(whole, replyContext(ASKED)))
  expect(read.calls).toEqual(streamed.calls)
  // What was refused is placed differently by each of them.
  const refused =
    whole.candidates[0]?.finish.reason === 'refusal' || said.some(({ type }) => type === 'refusal')
  if (!refused) expect(read.text).toBe(streamed.text)
}

function answerOf(
  id: ProtocolId,
  recording: Recording,
): { readonly parts: readonly StreamPart[]; readonly whole: CanonicalResponse } | undefined {
  if (recording.kind === 'whole') {
    if (!isJsonObject(recording.body)) return undefined
    const whole = protocolOf(recording.body.choices === undefined ? id : 'chat').decodeResponse(
      recording.body,
    )
    return whole.failure === undefined ? { whole, parts: unfoldResponse(whole) } : undefined
  }
  const { events } = recording
  const isChat = objectOf(parseJson(events[0]?.data ?? ''))?.choices !== undefined
  const parts = isChat
    ? decodeStream(protocolOf('chat'), [...events, { event: '', data: '[DONE]' }])
    : decodeStream(protocolOf(id), events)
  return parts.at(-1)?.type === 'end' ? { parts, whole: foldStream(parts) } : undefined
}
