import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { readAnyUsage } from '../../api/operator/usage.ts'
import { type Change, present } from '../../parts/lists/search-fields.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { type Groups, useGroupsBy } from '../../parts/usage/groups.ts'
import { callsPeriod } from '../../parts/usage/search.ts'
import { UsageView } from '../../parts/usage/usage-view.tsx'
import { type UsageQuestion, useUsage } from '../../parts/usage/use-usage.ts'
import { AccountFilter } from '../parts/account-filter.tsx'
import type { AnyUsageSearch } from './search.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const route = getRouteApi('/frame/operate/operate/usage')
const SPLITS = ['account', 'model', 'key', 'app'] as const
/** Groups listed individually: enough to read, and few enough for every hour of a week. */
const LARGEST = 50

/** Usage of all accounts. */
export function AnyUsagePage() {
  const { t } = useTranslation()
  const { account, ...found } = route.useSearch()
  const { by = 'account' } = found
  const search = { ...found, by }
  const navigate = route.useNavigate()
  const change = (fields: Change<AnyUsageSearch>): void =>
    inBackground(navigate({ search: (now) => present({ ...now, ...fields }), replace: true }))
  const source = useMemo(
    () => ({
      key: ['any-usage', account ?? ''],
      read: ({ group_by: group, ...question }: UsageQuestion, signal: AbortSignal) =>
        readAnyUsage(
          { ...question, ...present({ account_id: account }), group_by: group, largest: LARGEST },
          signal,
        ),
    }),
    [account],
  )
  const usage = useUsage(search, source)
  const { groups, ownerOf } = useNames(usage.answer, by)
  return (
    <UsageView
      title={t('operate.pages.usage')}
      lead={t('operate.usageLead')}
      search={search}
      usage={usage}
      groups={groups}
      splits={SPLITS}
      filters={<AccountFilter value={account} onChange={(id) => change({ account: id })} />}
      onChange={change}
      onChoose={useToCalls(search, (id) => account ?? ownerOf(id))}
    />
  )
}

type Answer = Pick<Awaited<ReturnType<typeof readAnyUsage>>, 'keys' | 'accounts'>

/** The names of the groups, and the account of each key. */
function useNames(
  answer: Answer | undefined,
  by: NonNullable<AnyUsageSearch['by']>,
): { readonly groups: Groups; readonly ownerOf: (key: string) => string | undefined } {
  const { keys = [], accounts = [] } = answer ?? {}
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  for (const { id, name, account_id: owner } of keys) names.set(id, `${name} · ${names.get(owner) ?? owner}`)
  const owners = new Map(keys.map(({ id, account_id: owner }) => [id, owner]))
  return { groups: useGroupsBy(by, names), ownerOf: (key) => owners.get(key) }
}

/** The log can be filtered by key once one account is chosen. */
function useToCalls(
  { by, period }: Pick<AnyUsageSearch, 'by' | 'period'>,
  accountOf: (id: string) => string | undefined,
): (id: string) => void {
  const navigate = useNavigate()
  return (id) => {
    const names = { model: 'model', key: 'key_id', app: 'app_id' } as const
    const field = by === 'model' || by === 'key' || by === 'app' ? names[by] : 'account'
    const search = present({
      account: field === 'account' ? undefined : accountOf(id),
      [field]: id,
      period: callsPeriod(period),
    })
    inBackground(navigate({ to: '/operate/calls', search }))
  }
}
