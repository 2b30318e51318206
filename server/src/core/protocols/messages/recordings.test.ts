import { describe, expect, test } from 'vitest'
import { findRecordings } from '../../../../test/recordings.ts'
import { foldStream } from '../../canonical/fold.ts'
import { parseJson } from '../../canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../json.ts'
import { decodeStream, encodeStream, PLAIN_REQUEST, replyContext } from '../testing/laws.ts'
import { accumulateMessage } from '../testing/official-clients.ts'
import { listOf, numberOf, objectOf, textOf } from '../read-json.ts'
import { messagesProtocol } from './index.ts'

/** Everything a recorded stream says, gathered without the decoder under test. */
function wordsOf(events: readonly { readonly data: string }[]) {
  const tools: { name: string; input: JsonValue; json: string }[] = []
  const said = { text: '', thinking: '', signatures: 0 }
  let output: number | undefined
  let inTool = false
  for (const { data } of events) {
    const json = objectOf(parseJson(data)) ?? {}
    const delta = objectOf(json.delta) ?? {}
    const opened = [...listOf(objectOf(json.message)?.content), json.content_block].map(objectOf)
    for (const block of opened) {
      if (block === undefined) continue
      inTool = block.type === 'tool_use'
      if (inTool) tools.push({ name: textOf(block.name) ?? '', input: block.input ?? {}, json: '' })
    }
    said.text += textOf(delta.text) ?? ''
    said.thinking += textOf(delta.thinking) ?? ''
    said.signatures += delta.type === 'signature_delta' ? 1 : 0
    const usage = objectOf(json.usage) ?? objectOf(objectOf(json.message)?.usage)
    output = numberOf(usage?.output_tokens) ?? output
    const tool = tools.at(-1)
    if (inTool && tool !== undefined) tool.json += textOf(delta.partial_json) ?? ''
  }
  const inputs = tools.map(({ input, json }) => (json === '' ? input : parseJson(json)))
  return { ...said, names: tools.map(({ name }) => name), inputs, output }
}

const recordings = findRecordings('messages')
const SPLICED = /spliced-message-start/

describe('recorded streams', () => {
  const streams = recordings.filter(
    (recording) => recording.kind === 'stream' && !SPLICED.test(recording.name),
  )

  test('there are some', () => expect(streams.length).toBeGreaterThan(20))

  test.each(streams.map((recording) => [recording.name, recording] as const))(
    '%s',
    async (_name, recording) => {
      if (recording.kind !== 'stream') return
      const parts = decodeStream(messagesProtocol, recording.events)
      const whole = foldStream(parts)
      const said = wordsOf(recording.events)
      const blocks = whole.candidates.flatMap((candidate) => candidate.blocks)
      expect(parts.at(-1)).toEqual({ type: 'end' })
      expect(blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(said.text)
      expect(blocks.map((block) => (block.type === 'reasoning' ? block.text : '')).join('')).toBe(
        said.thinking,
      )
      expect(
        blocks.filter((block) => block.type === 'reasoning' && block.signature !== undefined),
      ).toHaveLength(said.signatures)
      const calls = blocks.filter((block) => block.type === 'tool-call')
      expect(calls.map(({ name }) => name)).toEqual(said.names)
      // Zeros are counters of an upstream that has not counted yet.
      expect(whole.usage?.output ?? 0).toBe(said.output)

      const message = await accumulateMessage(encodeStream(messagesProtocol, parts))
      const texts = message.content.map((block) => (block.type === 'text' ? block.text : ''))
      expect(texts.join('')).toBe(said.text)
      const inputs = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))
      expect(inputs).toEqual(said.inputs)
      if (said.output !== 0) expect(message.usage.output_tokens).toBe(said.output)
    },
  )

  test('a spliced stream is a failure of the upstream, with every block closed', () => {
    const spliced = recordings.find(({ name }) => SPLICED.test(name))
    const parts = spliced?.kind === 'stream' ? decodeStream(messagesProtocol, spliced.events) : []
    expect(parts.at(-1)?.type).toBe('error')
    expect(parts.filter(({ type }) => type === 'block-start')).toHaveLength(2)
    expect(parts.filter(({ type }) => type === 'block-end')).toHaveLength(2)
  })
})

describe('recorded answers', () => {
  const answers = recordings.filter((recording) => recording.kind === 'whole')

  test.each(answers.map((recording) => [recording.name, recording] as const))(
    '%s comes back with the same content',
    (_name, recording) => {
      if (recording.kind !== 'whole' || !isJsonObject(recording.body)) return
      const response = messagesProtocol.decodeResponse(recording.body)
      const encoded = messagesProtocol.encodeResponse(response, replyContext(PLAIN_REQUEST))
      expect(listOf(encoded.content).map(withoutEnvelope)).toEqual(
        listOf(recording.body.content).map(withoutEnvelope),
      )
      expect(encoded.stop_reason).toBe(recording.body.stop_reason)
      const usage = objectOf(recording.body.usage)
      expect(objectOf(encoded.usage)).toMatchObject({
        input_tokens: usage?.input_tokens,
        cache_read_input_tokens: usage?.cache_read_input_tokens,
        output_tokens: usage?.output_tokens,
      })
    },
  )
})

/** Members no answer of the gateway has, and signatures, which leave in an envelope. */
function withoutEnvelope(block: JsonValue): JsonValue {
  if (!isJsonObject(block)) return block
  const { signature: _sealed, caller: _caller, citations: _citations, ...rest } = block
  return block.type === 'text' || block.type === 'tool_use' || block.type === 'thinking' ? rest : block
}
