import { queryOptions } from '@tanstack/react-query'
import { loadTexts } from '../../texts/languages.ts'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const SETTINGS = '/api/v1/admin/settings'
const FILE = '/api/v1/admin/gateway-file'

/** Settings of the whole platform. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => readSettings(signal),
})

function readSettings(signal: AbortSignal) {
  return dataOf(client.GET(SETTINGS, { signal }))
}

export type PlatformSettings = Awaited<ReturnType<typeof readSettings>>
export type SettingsChange = paths[typeof SETTINGS]['patch']['requestBody']['content']['application/json']

export const changeSettings = (body: SettingsChange) => dataOf(client.PATCH(SETTINGS, { body }))

type FileBody = paths[typeof FILE]['post']['requestBody']['content']['application/json']

/** Without `review` nothing is changed and the answer says what would be; with it, exactly those changes are applied. */
export async function applyFile(body: FileBody) {
  const review = await dataOf(client.POST(FILE, { body }))
  if (review.warnings.length > 0) await loadTexts('rules')
  return review
}

export type FileReview = Awaited<ReturnType<typeof applyFile>>
