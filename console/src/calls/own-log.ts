import { exportCalls, readCalls, sumCalls } from '../api/calls.ts'
import type { LogSource } from '../parts/calls/log-source.ts'

export function ownLog(organisation: string | undefined): LogSource {
  return {
    key: ['calls', organisation ?? ''],
    read: (filter, signal) => readCalls(filter, { organisation, signal }),
    sum: (filter, signal) => sumCalls(filter, { organisation, signal }),
    save: (filter, format) => exportCalls(filter, format, organisation),
  }
}
