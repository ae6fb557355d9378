using Models = Shop.Data.Models;
using System;

namespace Shop.Web
{
    [Route("users")]
    public class UserController : Controller, IDisposable
    {
        private readonly IUserRepo _repo;
        public Clock Clock { get; set; }

        public UserController(IUserRepo repo) { _repo = repo; }

        public async Task<User> Find(int id)
        {
            var mail = new Mail<User>(id);
            mail.Send();
            _repo.Load<User>(id);
            Clock?.Now();
            this.Clock.Tick();
            Models.Reset();
            return Helper(nameof(id), Cleanup);
        }

        private void Cleanup() => Dispose();
    }
}
