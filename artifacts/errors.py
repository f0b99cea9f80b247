"""The base of every error that this project raises on purpose."""


class ConstrainError(Exception):
    """Something the user can mend; the message says what and how.

    ``exit_code`` is what the command line ends with: 2 for unusable input,
    3 for a limit that was hit.
    """

    exit_code = 2


class ArtifactError(ConstrainError):
    """A file that is no artifact, a damaged one, or one of another major version of the format."""


class TokenRefusedError(ConstrainError):
    """``Matcher.advance`` was given a token that the mask does not allow.

    ``token_id`` is that token; the matcher has not moved.
    """

    exit_code = 1

    def __init__(self, token_id: int, reason: str) -> None:
        super().__init__(f"token {token_id} is refused: {reason}")
        self.token_id = token_id
