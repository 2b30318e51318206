import { Suspense } from 'react'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useAddress } from '../parts/use-address.ts'
import { Income } from './income.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

const Codes = late(async () => (await import('./codes.tsx')).Codes)
const FreeCalls = late(async () => (await import('./free-calls.tsx')).FreeCalls)
const Packages = late(async () => (await import('./packages.tsx')).Packages)
const Plans = late(async () => (await import('./plans.tsx')).Plans)
const TopUps = late(async () => (await import('./top-ups.tsx')).TopUps)

const TABS = ['income', 'topUps', 'codes', 'plans', 'packages', 'free'] as const
const PARTS = {
  income: Income,
  topUps: TopUps,
  codes: Codes,
  plans: Plans,
  packages: Packages,
  free: FreeCalls,
} as const

/** Revenue, margins, and what is on sale. */
export function MoneyPage() {
  const { t } = useTranslation()
  const [{ tab }, change] = useAddress()
  const shown = choiceField(tab, TABS) ?? 'income'
  const Part = PARTS[shown]
  return (
    <>
      <PageHead title={t('operate.pages.money')} lead={t('money.lead')}>
        <Segments
          aria-label={t('money.shown')}
          value={shown}
          data={TABS.map((value) => ({ value, label: t(`money.tabs.${value}`) }))}
          onChange={(value) =>
            change({ tab: value === 'income' ? undefined : value, open: undefined, state: undefined })
          }
        />
      </PageHead>
      <Suspense>
        <Part />
      </Suspense>
    </>
  )
}
