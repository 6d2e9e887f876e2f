"""What this app will not do: to agents at the door, and to people who set things up.

Those of the door belong here, since `review.domain` stands above this app. `advice` is the further
sentence of a page, as in `review.domain.refusals`.
"""

from __future__ import annotations

from typing import ClassVar

from huqan_site.lib.problems import Refusal

# At the agents' door.


class Unauthorized(Refusal):
    """One answer for a wrong, revoked, expired, doubled or misplaced token: it tells nothing about which."""

    code, status, title = "unauthorized", 401, "Not authorised"
    detail = (
        "Send one valid token as `Authorization: Bearer hqn_…`, never in the address. A manager mints one."
    )


class MissingScope(Refusal):
    code, status, title = "missing_scope", 403, "The token lacks a scope"
    detail = "This token may not do that; `scope` names what it lacks. A manager mints a token that has it."


class AgentStopped(Refusal):
    code, status, title = "agent_stopped", 403, "The agent is stopped"
    detail = "This agent was stopped, or nobody active answers for it, so it changes nothing. Ask a manager."


class RateLimited(Refusal):
    code, status, title = "rate_limited", 429, "Too many requests"
    detail = "This token sent more requests than it may in a minute. Wait as long as Retry-After says."

    @property
    def retry_after(self) -> int:
        """Whole seconds for the Retry-After header."""
        return int(self.extra["retry_after"])


# In setting up.


class SetUpDeclined(Refusal):
    """Nothing was changed; `advice` says what this person can do, or who else can."""

    advice: ClassVar[str] = ""


class Mistyped(SetUpDeclined):
    """The fields of a form are not as they must be; each of them says why."""

    code, status, title = "invalid", 422, "Not recorded"
    detail = "Something that was typed or chosen cannot stand, and nothing was changed."
    advice = "Correct what is marked below. What else you typed is kept."


class SignedOut(SetUpDeclined):
    code, status, title = "signed_out", 403, "Not recorded: you are signed out"
    detail = "What you sent was not recorded, since your session has ended."
    advice = "Sign in in another tab, then go back here: the browser still has what you typed. Send it again."


class NotFound(SetUpDeclined):
    code, status, title = "not_found", 404, "Not found"
    detail = "Nothing with this id is here for you."
    advice = "Open the page it belongs to and choose it there."


class NotManager(SetUpDeclined):
    code, status, title = "not_manager", 403, "Not a manager"
    detail = "This needs an active manager role in the workspace, which you do not have."
    advice = "A manager of the workspace can do it. No account is above this rule."


class OwnRole(SetUpDeclined):
    code, status, title = "own_role", 403, "Nobody grants himself a role"
    detail = "You cannot grant a role to yourself, from any of your accounts."
    advice = "Another manager of the workspace can grant it."


class AlreadyGranted(SetUpDeclined):
    code, status, title = "already_granted", 409, "Already granted"
    detail = "This is granted already and still holds."
    advice = "End it first if it should begin anew."


class NameTaken(SetUpDeclined):
    code, status, title = "name_taken", 409, "The name is taken"
    detail = "This name is in use, whatever the letter case."
    advice = "Choose another name."


class BadName(SetUpDeclined):
    code, status, title = "bad_name", 422, "Not a name"
    detail = "A name starts with a letter or digit; then letters, digits, hyphens and underscores may follow."
    advice = "Account names may also have . @ and +, and up to 150 characters; the others up to 64."


class LastManager(SetUpDeclined):
    code, status, title = "last_manager", 409, "The last manager"
    detail = "After this the workspace would have no manager, and nobody could undo it there."
    advice = (
        "Grant the role of manager to somebody else first. The operator can open it again with a command."
    )


class OwnAccount(SetUpDeclined):
    code, status, title = "own_account", 403, "Nobody links his own accounts"
    detail = "You cannot say of yourself and another account that they are one person."
    advice = "Another manager of the same workspaces can."


class AlreadyOne(SetUpDeclined):
    code, status, title = "already_one", 409, "One person already"
    detail = "These accounts belong to one person already."
    advice = "Nothing is left to do."


class EndsTooSoon(SetUpDeclined):
    code, status, title = "ends_too_soon", 422, "It would have ended"
    detail = "A role ends after it begins, and it begins now."
    advice = "Choose a time that is still to come, or leave it empty."


class BadGroup(SetUpDeclined):
    code, status, title = "bad_group", 422, "Not the name of a group"
    detail = (
        "A group has a name of 1 to 64 characters without commas, and a role counts for at most 20 groups."
    )
    advice = "Write the names as the policy does, separated by commas."


class Disabled(SetUpDeclined):
    code, status, title = "disabled", 409, "The person is disabled"
    detail = "This person is disabled, and a disabled person can be given nothing."
    advice = "Choose somebody who is active."


class NotAMember(SetUpDeclined):
    code, status, title = "not_a_member", 422, "Not a member"
    detail = "This needs somebody with an active role in that workspace."
    advice = "Grant a role first, or choose a member."


class ReasonMissing(SetUpDeclined):
    code, status, title = "reason_required", 422, "A reason is required"
    detail = "Whoever finds the agent stopped reads your reason first, and so does the log."
    advice = "Write why, in a sentence."


class OwnStop(SetUpDeclined):
    code, status, title = "own_stop", 403, "Another manager must lift this"
    detail = "You stopped this agent, and a stop is lifted by a second person."
    advice = "Any other manager of the workspace can do it."


class Unanswered(SetUpDeclined):
    code, status, title = "unanswered", 409, "Nobody answers for it"
    detail = "An agent runs only while somebody active, with a role in the workspace, answers for it."
    advice = "Name an owner, then lift the stop."


class BadTerm(SetUpDeclined):
    code, status, title = "bad_term", 422, "No such term"
    detail = "A token lasts from 1 to 90 days and has at least one of the scopes propose, read and redeem."


class LinkSpent(SetUpDeclined):
    code, status, title = "link_spent", 410, "The link no longer works"
    detail = "This link was used, has run out, or never was one of ours. A link works once, and not for long."
    advice = "Ask a manager or the operator for a new one."


class WeakPassword(SetUpDeclined):
    code, status, title = "weak_password", 422, "Choose another password"
    detail = "This password is too easy to guess."


class WrongPassword(SetUpDeclined):
    code, status, title = "wrong_password", 403, "Wrong password"
    detail = "The password is not the one of your account, and nothing was changed."
    advice = "Type it again. What you typed elsewhere is kept."


class WrongCode(SetUpDeclined):
    code, status, title = "wrong_code", 403, "Wrong code"
    detail = "The code is not one that your second factor shows now, or it was used. Nothing was changed."
    advice = "Wait for the next code, or use a recovery code. Your password is not asked for here."


class StepUpNeeded(SetUpDeclined):
    code, status, title = "step_up_needed", 403, "Prove that it is you"
    detail = "Changing how you sign in needs a password or code given in the last 5 minutes."
    advice = "Type it in the same form."


class AlreadyEnrolled(SetUpDeclined):
    code, status, title = "already_enrolled", 409, "There is one already"
    detail = "This account has a second factor already."
    advice = "Remove it first to set up another."


class TooManyAttempts(SetUpDeclined):
    code, status, title = "too_many_attempts", 429, "Too many attempts"
    detail = (
        "5 wrong passwords or codes were given. For 5 minutes nothing more is tried, not even the right one."
    )
    advice = "Wait 5 minutes. What you typed elsewhere is kept."
