/** What the gateway says, as a rule with what stands in it: it has a sentence in every language. */
export interface Said {
  readonly rule: string
  /** A value may say something itself. */
  readonly values: Readonly<Record<string, string | number | Said>>
}

/** A field of the request that was at fault, as the gateway names it. */
export interface FieldFault {
  readonly in: string
  /** `policy.windows.0.limit`; empty: the whole part. */
  readonly path: string
  readonly message: string
  /** undefined: only the message says it. */
  readonly said: Said | undefined
}

/** Why an answer is not a good one. */
export class ApiError extends Error {
  /** Of the error catalogue; 0: there was no answer. */
  readonly code: number
  readonly status: number
  /** What the operator finds in the log; undefined: there was no answer. */
  readonly requestId: string | undefined
  readonly faults: readonly FieldFault[]
  /** What the message says; undefined: only the message says it. */
  readonly said: Said | undefined
  /** Seconds until it is worth trying again, where the gateway says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    told: Pick<ApiError, 'code' | 'status' | 'requestId' | 'faults' | 'said' | 'retryAfterSeconds'> & {
      readonly cause?: unknown
    },
  ) {
    super(message, { cause: told.cause })
    this.name = 'ApiError'
    this.code = told.code
    this.status = told.status
    this.requestId = told.requestId
    this.faults = told.faults
    this.said = told.said
    this.retryAfterSeconds = told.retryAfterSeconds
  }

  static unreachable(cause: unknown): ApiError {
    return new ApiError('the gateway cannot be reached', {
      code: 0,
      status: 0,
      requestId: undefined,
      faults: [],
      said: undefined,
      retryAfterSeconds: undefined,
      cause,
    })
  }

  static of(body: unknown, response: Response): ApiError {
    const told = isRecord(body) ? body : {}
    const inner = isRecord(told['error']) ? told['error'] : {}
    const retryAfter = Number(response.headers.get('retry-after'))
    return new ApiError(textOf(told['message']) ?? textOf(inner['message']) ?? response.statusText, {
      code: typeof told['code'] === 'number' ? told['code'] : Number(inner['code'] ?? 0),
      status: response.status,
      requestId: textOf(inner['request_id']) ?? response.headers.get('x-request-id') ?? undefined,
      faults: faultsOf(inner['details']),
      said: saidOf(inner['details']),
      retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
    })
  }

  /** The session is no more, or there never was one. */
  get isSignedOut(): boolean {
    return this.status === 401 && (this.code === 40001 || this.code === 40101)
  }

  /** What was asked needs a session that has just begun. */
  get isSessionStale(): boolean {
    return this.code === 40309
  }
}

function faultsOf(details: unknown): readonly FieldFault[] {
  const fields = isRecord(details) ? details['fields'] : undefined
  if (!Array.isArray(fields)) return []
  return fields.filter(isRecord).map((field) => ({
    in: textOf(field['in']) ?? '',
    path: textOf(field['path']) ?? '',
    message: textOf(field['message']) ?? '',
    said: saidOf(field),
  }))
}

/** What a refusal, a fault or a warning says; undefined: only its message does. */
export function saidOf(told: unknown): Said | undefined {
  if (!isRecord(told)) return undefined
  const rule = textOf(told['rule'])
  if (rule === undefined) return undefined
  const values = isRecord(told['values']) ? told['values'] : {}
  return {
    rule,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueOf(value)])),
  }
}

function valueOf(value: unknown): string | number | Said {
  if (typeof value === 'number') return value
  return saidOf(value) ?? textOf(value) ?? ''
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
