import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { anyAccountQuery } from '../../api/operator/accounts.ts'
import { namesOf } from './account-name.ts'
import operator from './operator.module.css'

interface AccountLinkProps {
  readonly id: string
  /** Where it is known already; null: the account has none. */
  readonly name?: string | null
}

/** Leads to an account, by what it is called; one that is gone by its id. */
export function AccountLink({ id, name }: AccountLinkProps) {
  const { data } = useQuery({ ...anyAccountQuery(id), enabled: name === undefined })
  return (
    <Link to="/operate/accounts" search={{ open: id }} className={operator.accountLink} title={id}>
      {name ?? (data === undefined ? id : namesOf(data).name)}
    </Link>
  )
}
