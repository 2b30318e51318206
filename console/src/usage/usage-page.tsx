import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useOrganisationId } from '../api/session.ts'
import { readUsage } from '../api/usage.ts'
import { type Change, present } from '../parts/lists/search-fields.ts'
import { inBackground } from '../parts/page/in-background.ts'
import { callsPeriod, type UsageSearch } from '../parts/usage/search.ts'
import { UsageView } from '../parts/usage/usage-view.tsx'
import { useUsage } from '../parts/usage/use-usage.ts'
import { useGroups } from './use-groups.ts'
import { useTranslation } from '../texts/use-translation.ts'

const route = getRouteApi('/frame/usage')
const SPLITS = ['model', 'key', 'app'] as const

/** Usage of the person, or of the active organisation. */
export function UsagePage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const organisation = useOrganisationId()
  const source = useMemo(
    () => ({
      key: ['usage', organisation ?? ''],
      read: (question: Parameters<typeof readUsage>[0], signal: AbortSignal) =>
        readUsage(question, { organisation, signal }),
    }),
    [organisation],
  )
  const usage = useUsage(search, source)
  const groups = useGroups(search.by ?? 'model')
  const change = (fields: Change<UsageSearch>): void =>
    inBackground(navigate({ search: (now) => present({ ...now, ...fields }), replace: true }))
  return (
    <UsageView
      title={t('pages.usage')}
      lead={t('usage.lead')}
      search={search}
      usage={usage}
      groups={groups}
      splits={organisation === undefined ? SPLITS : [...SPLITS, 'member']}
      onChange={change}
      onChoose={useToCalls(search)}
    />
  )
}

/** The call log filters by model, key and application, not by member; undefined: it cannot filter by the group. */
function useToCalls({ by = 'model', period }: UsageSearch): ((id: string) => void) | undefined {
  const navigate = useNavigate()
  const field = SPLITS.find((each) => each === by)
  if (field === undefined) return undefined
  const names = { model: 'model', key: 'key_id', app: 'app_id' } as const
  return (id) => {
    const search = { [names[field]]: id, period: callsPeriod(period) }
    inBackground(navigate({ to: '/calls', search }))
  }
}
