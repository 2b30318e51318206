import { useQuery } from '@tanstack/react-query'
import { accountMarginsQuery } from '../../api/operator/models.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { earnedOf } from '../parts/earned.ts'
import { Split } from './split.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The accounts that paid most, and all others as one. */
export function ByAccount({ from }: { readonly from: string }) {
  const { t } = useTranslation()
  const margins = useQuery(accountMarginsQuery({ from, limit: ACCOUNTS }))
  return (
    <Loaded query={margins} height={240}>
      {({ accounts, others }) => (
        <Split
          title={t('money.byAccount')}
          head={t('operate.account')}
          rows={[
            ...accounts.map((margin) => ({
              name: margin.account_name ?? margin.account_id,
              account: margin.account_id,
              earned: earnedOf([margin]),
            })),
            ...(others === null
              ? []
              : [{ name: t('money.otherAccounts', { count: others.accounts }), earned: earnedOf([others]) }]),
          ]}
        />
      )}
    </Loaded>
  )
}

/** Listed individually. */
const ACCOUNTS = 20
