/** The result of one health check of something the gateway depends on. */
export interface Finding {
  readonly check: string
  /** `warning`: it works, but needs attention. `skipped`: it could not be checked. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly found: string
  /** What to do; undefined: nothing. */
  readonly fix: string | undefined
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, fix: undefined }
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, state: 'warning', found, fix }
}

export function failed(check: string, found: string, fix: string): Finding {
  return { check, state: 'failed', found, fix }
}

export function skipped(check: string, found: string, fix?: string): Finding {
  return { check, state: 'skipped', found, fix }
}
