/** Sends one call at a time, reads its stream, and can stop it. */
import { createParser } from 'eventsource-parser'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { useOrganisationId, usePerson } from '../api/session.ts'
import { isRecord, type JsonRecord, parseJson, formFieldsOf } from '../parts/values/json.ts'
import type { WireRequest } from './kinds/kind.ts'
import { type KeyedFetch, openKeyedFetch } from './session-key.ts'

export interface SentCall {
  readonly request: WireRequest
  /** `failed`: no usable answer. `stopped`: by the person. */
  readonly state: 'running' | 'done' | 'failed' | 'stopped'
  /** Ms of `performance.now()`. */
  readonly sentAt: number
  readonly firstByteMs?: number
  readonly tookMs?: number
  /** The request id, by which the log finds the call. */
  readonly requestId?: string | undefined
  readonly status?: number
  /** The raw answer. */
  readonly raw: string
  readonly events: number
  readonly error?: unknown
}

export interface Listener {
  /** The events of a stream. */
  onEvent(event: JsonRecord): void
  /** The body of an answer that is not a stream. */
  onAnswer(answer: JsonRecord): void
  /** The file of a binary answer, such as audio. */
  onFile?(file: Blob): void
}

export interface Caller {
  readonly call: SentCall | undefined
  /** Resolves when the call has ended, in any way. */
  send(request: WireRequest, listener: Listener): Promise<void>
  readonly stop: () => void
  readonly forget: () => void
  readonly ask: KeyedFetch
}

export function useCall(): Caller {
  const organisation = useOrganisationId()
  const { id: account } = usePerson()
  const ask = useMemo(() => openKeyedFetch({ account, organisation }), [account, organisation])
  useEffect(() => ask.listen(), [ask])
  const [call, setCall] = useState<SentCall>()
  const running = useRef<AbortController>(undefined)
  const send: Caller['send'] = async (request, listener) => {
    const abort = new AbortController()
    running.current = abort
    const sentAt = performance.now()
    const since = (): number => performance.now() - sentAt
    setCall({ request, state: 'running', sentAt, raw: '', events: 0 })
    const change = (next: Partial<SentCall>): void => {
      if (running.current === abort) setCall((now) => now && { ...now, ...next })
    }
    try {
      const body = bodyOf(request)
      const response = await ask(request.path, { method: 'POST', body, signal: abort.signal })
      const requestId = response.headers.get('x-request-id') ?? undefined
      change({ requestId, status: response.status, firstByteMs: since() })
      const raw = await readAnswer(response, listener, change)
      if (!response.ok) throw ApiError.of(parseJson(raw), response)
      change({ state: 'done', tookMs: since() })
    } catch (error) {
      if (abort.signal.aborted) change({ state: 'stopped', tookMs: since() })
      else change({ state: 'failed', tookMs: since(), error: problemOf(error) })
    }
  }
  return {
    call,
    ask,
    send,
    stop: () => running.current?.abort(),
    forget: () => {
      running.current?.abort()
      running.current = undefined
      setCall(undefined)
    },
  }
}

/** The request body: JSON, or a form if there are files. */
function bodyOf({ body, files }: WireRequest): string | FormData {
  if (files === undefined) return JSON.stringify(body)
  const form = new FormData()
  for (const [name, value] of formFieldsOf(body)) form.append(name, value)
  for (const [name, file] of Object.entries(files)) form.append(name, file)
  return form
}

/** The browser's text of a network error is not helpful. */
function problemOf(error: unknown): unknown {
  return error instanceof TypeError ? ApiError.unreachable(error) : error
}

/** Reads the whole answer as text, and reports each piece as it arrives. */
async function readAnswer(
  response: Response,
  listener: Listener,
  change: (next: Pick<SentCall, 'raw' | 'events'>) => void,
): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  const isStream = response.ok && type.includes('text/event-stream')
  if (response.ok && type.startsWith('audio/')) {
    const file = await response.blob()
    listener.onFile?.(file)
    // The parts that are valid.
    const raw = `${type}, ${file.size} bytes`
    change({ raw, events: 0 })
    return raw
  }
  let raw = ''
  let events = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      events += 1
      const event = parseJson(data)
      if (isRecord(event)) listener.onEvent(event)
    },
  })
  for await (const text of piecesOf(response)) {
    raw += text
    if (isStream) parser.feed(text)
    change({ raw, events })
  }
  const answer = isStream || !response.ok ? undefined : parseJson(raw)
  if (isRecord(answer)) listener.onAnswer(answer)
  return raw
}

async function* piecesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
