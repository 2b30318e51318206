import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { anyAccountQuery } from '../../api/operator/accounts.ts'
import { namesOf } from './account-name.ts'
import operator from './operator.module.css'

interface AccountLinkProps {
  readonly id: string
  /** The name, if it is known already; null: the account has none. */
  readonly name?: string | null
}

/** A link to an account by its name; if the account does not exist any more, its id. */
export function AccountLink({ id, name }: AccountLinkProps) {
  const { data } = useQuery({ ...anyAccountQuery(id), enabled: name === undefined })
  return (
    <Link to="/operate/accounts" search={{ open: id }} className={operator.accountLink} title={id}>
      {name ?? (data === undefined ? id : namesOf(data).name)}
    </Link>
  )
}
