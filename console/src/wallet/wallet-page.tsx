import { Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense } from 'react'
import { LIVE_MS } from '../api/query-client.ts'
import { accountQuery, useMayManage, useOrganisationId } from '../api/session.ts'
import { offersQuery } from '../api/wallet.ts'
import { choiceField } from '../parts/lists/search-fields.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { late } from '../parts/page/late.ts'
import { PageHead } from '../parts/page/page-head.tsx'
import { type ChangeAddress, useSheetAddress } from '../parts/page/use-sheet-address.ts'
import { Exchange } from './exchange.tsx'
import { Funds } from './funds.tsx'
import { PayingRules } from './paying-rules.tsx'
import { PlanSection } from './plan/plan-section.tsx'
import { Receipts } from './receipts/receipts.tsx'
import { Returned } from './top-up/returned.tsx'
import { TABS, type WalletSearch } from './search.ts'
import { Statement } from './statement/statement.tsx'
import { TopUps } from './top-up/top-ups.tsx'
import styles from './wallet.module.css'
import { useTranslation } from '../texts/use-translation.ts'

const TopUpDialog = late(async () => (await import('./top-up/top-up-dialog.tsx')).TopUpDialog)
const RedeemDialog = late(async () => (await import('./top-up/redeem-dialog.tsx')).RedeemDialog)
const PlanDialog = late(async () => (await import('./plan/plan-dialog.tsx')).PlanDialog)

const route = getRouteApi('/frame/wallet')

export function WalletPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const [change, dialog] = useSheetAddress<WalletSearch, 'open'>('open')
  if (!useMayManage()) {
    return (
      <>
        <PageHead title={t('pages.wallet')} />
        <Empty icon="wallet" title={t('wallet.notYours')}>
          {t('wallet.notYoursHint')}
        </Empty>
      </>
    )
  }
  return (
    <>
      <PageHead title={t('pages.wallet')} lead={t('wallet.lead')}>
        <Ways onOpen={dialog.open} />
      </PageHead>
      {search.top_up !== undefined && (
        <Returned id={search.top_up} onClose={() => change({ top_up: undefined })} />
      )}
      <Money onPlan={() => dialog.open('plan')} />
      <History search={search} onChange={change} />
      <Suspense>
        <OpenDialog open={search.open} onClose={dialog.close} />
      </Suspense>
    </>
  )
}

/** Ways to add money: by card if the operator accepts cards, and by code. */
function Ways({ onOpen }: { readonly onOpen: (dialog: 'top-up' | 'redeem') => void }) {
  const { t } = useTranslation()
  const { data: offers } = useQuery(offersQuery)
  const card = offers?.card === true
  return (
    <>
      <Button
        variant={card ? 'default' : 'filled'}
        leftSection={<Icon name="gift" />}
        onClick={() => onOpen('redeem')}
      >
        {t('wallet.redeem')}
      </Button>
      {card && (
        <Button leftSection={<Icon name="plus" />} onClick={() => onOpen('top-up')}>
          {t('wallet.topUp')}
        </Button>
      )}
    </>
  )
}

function Money({ onPlan }: { readonly onPlan: () => void }) {
  const organisation = useOrganisationId()
  const { data: account } = useQuery({ ...accountQuery(organisation), refetchInterval: LIVE_MS })
  return (
    <>
      <Funds account={account} />
      <div className={styles.two}>
        <PlanSection onChange={onPlan} />
        <Exchange account={account} />
        {account !== undefined && <PayingRules key={account.id} account={account} />}
      </div>
    </>
  )
}

interface HistoryProps {
  readonly search: WalletSearch
  readonly onChange: ChangeAddress<WalletSearch>
}

/** Tabs of statements, top-ups and receipts. */
function History({ search, onChange }: HistoryProps) {
  const { t } = useTranslation()
  const { tab = 'statement', month, after } = search
  return (
    <Tabs
      className={styles.history ?? ''}
      value={tab}
      keepMounted={false}
      onChange={(next) => onChange({ tab: choiceField(next, TABS), after: undefined, month: undefined })}
    >
      <Tabs.List aria-label={t('wallet.history')}>
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {t(`wallet.tabs.${name}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="statement" className={styles.panel ?? ''}>
        <Statement month={month} after={after} onChange={onChange} />
      </Tabs.Panel>
      <Tabs.Panel value="top-ups" className={styles.panel ?? ''}>
        <TopUps after={after} onChange={onChange} />
      </Tabs.Panel>
      <Tabs.Panel value="receipts" className={styles.panel ?? ''}>
        <Receipts />
      </Tabs.Panel>
    </Tabs>
  )
}

interface OpenDialogProps {
  readonly open: WalletSearch['open']
  readonly onClose: () => void
}

function OpenDialog({ open, onClose }: OpenDialogProps) {
  switch (open) {
    case undefined:
      return null
    case 'top-up':
      return <TopUpDialog onClose={onClose} />
    case 'redeem':
      return <RedeemDialog onClose={onClose} />
    case 'plan':
      return <PlanDialog onClose={onClose} />
  }
}
