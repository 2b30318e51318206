import type {
  TransportFailure,
  Upstream,
  UpstreamCall,
  UpstreamExchange,
  UpstreamHead,
} from '../../upstream/upstream.ts'

export interface SmallAnswerSink {
  ended(head: UpstreamHead, body: Uint8Array): void
  fail(failure: TransportFailure): void
  broke(error: unknown): void
}

/** Asks for a document that is read as a whole, up to a limit, by who speaks to a vendor before the client's answer. */
export function askSmall(
  open: Upstream['open'],
  call: UpstreamCall,
  bytesMax: number,
  sink: SmallAnswerSink,
): UpstreamExchange {
  const chunks: Uint8Array[] = []
  let head: UpstreamHead | undefined
  let length = 0
  const exchange = open(call, {
    head: (came) => {
      head = came
    },
    data: (chunk) => {
      length += chunk.byteLength
      if (length <= bytesMax) chunks.push(chunk)
      else exchange.abort()
    },
    end: () => {
      if (head === undefined) throw new Error('an answer ended before its head')
      const whole = { head, body: Buffer.concat(chunks) }
      guarded(sink, () => sink.ended(whole.head, whole.body))
    },
    fail: (failure) => sink.fail(length > bytesMax ? tooLarge(bytesMax) : failure),
  })
  return exchange
}

/** For what is called by timers and connections, which do not care. */
export function guarded(sink: Pick<SmallAnswerSink, 'broke'>, act: () => void): void {
  try {
    act()
  } catch (error) {
    sink.broke(error)
  }
}

function tooLarge(bytesMax: number): TransportFailure {
  return { kind: 'protocol', sent: true, detail: `an answer larger than ${bytesMax} bytes` }
}
