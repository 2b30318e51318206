import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useMayManage } from '../api/session.ts'
import { inBackground } from '../parts/page/in-background.ts'
import { Later } from '../parts/page/later.tsx'
import { NoFunds } from '../parts/page/no-funds.tsx'
import page from '../parts/page/page.module.css'
import { PageHead } from '../parts/page/page-head.tsx'
import { Announcements } from './announcements.tsx'
import { Figures } from './figures.tsx'
import { HowToCall } from './how-to-call.tsx'
import { LastCalls } from './last-calls.tsx'
import styles from './overview.module.css'
import { DEFAULT_PERIOD, PERIODS } from './periods.ts'
import { Spend } from './spend.tsx'
import { useTranslation } from '../texts/use-translation.ts'
import { Segments } from '../parts/forms/segments.tsx'

const route = getRouteApi('/frame/')

export function OverviewPage() {
  const { t } = useTranslation()
  const { period = DEFAULT_PERIOD } = route.useSearch()
  const navigate = route.useNavigate()
  const mayManage = useMayManage()
  // Fixed per visit: with a moving start every request would have another query key.
  const [openedAt] = useState(() => Date.now())
  return (
    <>
      <PageHead title={t('pages.overview')} lead={t('overview.lead')}>
        <Segments
          className={page.wide ?? ''}
          aria-label={t('overview.period')}
          value={period}
          onChange={(value) => inBackground(navigate({ search: { period: value }, replace: true }))}
          data={PERIODS.map((value) => ({ value, label: t(`overview.periods.${value}`) }))}
        />
      </PageHead>
      <div className={styles.funds}>
        <NoFunds />
      </div>
      {mayManage && <Figures period={period} openedAt={openedAt} />}
      <div className={styles.two} data-first={!mayManage || undefined}>
        <div>
          <Spend period={period} openedAt={openedAt} />
          <LastCalls />
        </div>
        <div>
          <Later>
            {() => (
              <>
                <HowToCall />
                <Announcements />
              </>
            )}
          </Later>
        </div>
      </div>
    </>
  )
}
