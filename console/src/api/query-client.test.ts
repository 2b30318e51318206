import { MutationObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createQueryClient } from './query-client.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('what was sent and what was shown once is forgotten with the sheet that asked for it', async () => {
  const client = createQueryClient()
  const form = new MutationObserver(client, {
    mutationFn: (secret: string) => Promise.resolve({ key: `sk-of-${secret}` }),
  })
  const close = form.subscribe(() => undefined)
  await form.mutate('a vendor’s secret')
  expect(form.getCurrentResult().data).toEqual({ key: 'sk-of-a vendor’s secret' })
  close()
  await vi.advanceTimersByTimeAsync(1)
  expect(client.getMutationCache().getAll()).toEqual([])
})
