import { SegmentedControl } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useAddress } from '../parts/use-address.ts'
import { Income } from './income.tsx'

const Codes = lazy(() => import('./codes.tsx').then(({ Codes: component }) => ({ default: component })))
const FreeCalls = lazy(() =>
  import('./free-calls.tsx').then(({ FreeCalls: component }) => ({ default: component })),
)
const Packages = lazy(() =>
  import('./packages.tsx').then(({ Packages: component }) => ({ default: component })),
)
const Plans = lazy(() => import('./plans.tsx').then(({ Plans: component }) => ({ default: component })))
const TopUps = lazy(() => import('./top-ups.tsx').then(({ TopUps: component }) => ({ default: component })))

const TABS = ['income', 'topUps', 'codes', 'plans', 'packages', 'free'] as const
const PARTS = {
  income: Income,
  topUps: TopUps,
  codes: Codes,
  plans: Plans,
  packages: Packages,
  free: FreeCalls,
} as const

/** What comes in, what is left of it, and what is sold. */
export function MoneyPage() {
  const { t } = useTranslation()
  const [{ tab }, change] = useAddress()
  const shown = choiceField(tab, TABS) ?? 'income'
  const Part = PARTS[shown]
  return (
    <>
      <PageHead title={t('operate.pages.money')} lead={t('money.lead')}>
        <SegmentedControl
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
