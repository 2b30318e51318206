import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { accountQuery, useMayManage, useOrganisationId } from '../../api/session.ts'
import { isZero } from '../values/decimal.ts'
import { LinkButton } from './link-button.tsx'
import { Note } from './problem.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Why the account cannot pay for calls, and the next step; renders nothing if it can. */
export function NoFunds() {
  const { t } = useTranslation()
  const mayManage = useMayManage()
  const organisation = useOrganisationId()
  const { data: account } = useQuery({ ...accountQuery(organisation), enabled: mayManage })
  if (account === undefined || account.plan !== null) return null
  const { credits, balance, auto_exchange: auto } = account
  if (!account.api_deduction)
    return <Note action={<ToWallet text={t('funds.toWallet')} />}>{t('funds.notAllowed')}</Note>
  if (isMore(credits) || (isMore(balance) && auto.enabled)) return null
  return isMore(balance) ? (
    <Note action={<ToWallet text={t('funds.toWallet')} />}>{t('funds.onlyBalance')}</Note>
  ) : (
    <Note action={<ToWallet open="redeem" text={t('funds.redeem')} />}>{t('funds.none')}</Note>
  )
}

/** More than nothing. */
function isMore(amount: string): boolean {
  return !isZero(amount) && !amount.startsWith('-')
}

function ToWallet({ open, text }: { readonly open?: 'redeem'; readonly text: string }) {
  return (
    <Button
      variant="default"
      size="xs"
      renderRoot={(props) => (
        <LinkButton {...props} to="/wallet" search={open === undefined ? {} : { open }} />
      )}
    >
      {text}
    </Button>
  )
}
