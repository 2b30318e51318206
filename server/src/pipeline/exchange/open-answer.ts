import type { UpstreamHead } from '../../upstream/upstream.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { OpenAnswer } from './exchange-states.ts'

export interface OpenedAnswer {
  readonly answer: OpenAnswer
  readonly contentType: string | undefined
}

/** The lane of an answer whose head says that it is one, as a stream or whole. */
export function openAnswer(
  { lane, stream, extras, tierHeader }: Pick<ExchangeOptions, 'lane' | 'stream' | 'extras' | 'tierHeader'>,
  { headers }: UpstreamHead,
): OpenedAnswer {
  const type = headerOf(headers, 'content-type')
  // One that nobody asked for would be no document: passed as what it is, it is metered and paid for.
  const streaming = stream ? isEventStream(type) : lane.passesStreams === true && saysEventStream(type)
  extras?.begin(streaming ? 'stream' : 'whole')
  const tier = tierHeader === undefined ? undefined : headerOf(headers, tierHeader)
  if (tier !== undefined) extras?.noteField('service_tier', tier)
  if (!streaming) return { answer: { form: 'whole', lane: lane.openWhole() }, contentType: type }
  const opened = lane.openStream()
  return { answer: { form: 'stream', lane: opened }, contentType: opened.contentType }
}

/** Nobody hears the answer any more: it is read for its usage alone. */
export function unheard(answer: OpenAnswer): OpenAnswer {
  if (answer.form === 'whole') answer.lane.forget()
  return answer
}

function saysEventStream(type: string | undefined): boolean {
  return type?.startsWith('text/event-stream') === true
}

function isEventStream(type: string | undefined): boolean {
  return type === undefined || !type.startsWith('application/json')
}

export function headerOf(headers: UpstreamHead['headers'], name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}
