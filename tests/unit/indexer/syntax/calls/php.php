<?php
namespace App\Http;

use App\Models\{User, Post as Article};
use App\Support\Str;

#[Route('/')]
class UserController extends Controller implements HasName
{
    use Loggable;
    private Mailer $mailer;

    public function __construct(private UserRepo $repo) {}

    public function show(Request $request): ?Article
    {
        $user = $this->repo->find(Str::slug($request->name()));
        $job = new SendMail($user);
        $job->dispatch();
        $this->mailer->send(User::class);
        parent::show($request);
        return helper(static::make());
    }
}
