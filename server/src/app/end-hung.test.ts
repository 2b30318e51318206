import { expect, test } from 'vitest'
import { endHung } from './end-hung.ts'

const never = (): Promise<void> => new Promise(() => undefined)

function ended(stop: () => Promise<void>, waited: () => Promise<void> = never) {
  const steps: string[] = []
  const end = endHung({
    stop: async () => {
      await stop()
      steps.push('stopped')
    },
    withinMs: 7,
    kill: () => steps.push('killed'),
    onError: (error) => steps.push(String(error)),
    wait: async (ms) => {
      await waited()
      steps.push(`waited ${ms}`)
    },
  })
  return end.then(() => steps)
}

test('a process whose storage hangs is killed once it has stopped, and not before: its files are written then', async () => {
  expect(await ended(() => Promise.resolve())).toEqual(['stopped', 'killed'])
})

test('so is one whose stop hangs too, after the time a stop may take', async () => {
  expect(await ended(never, () => Promise.resolve())).toEqual(['waited 7', 'killed'])
})

test('so is one whose stop fails, which is logged', async () => {
  expect(await ended(() => Promise.reject(new Error('no disk')))).toEqual(['Error: no disk', 'killed'])
})
