"""The two kinds of mutex that drivers have, and a worker that needs one.

`OwnerMutex` is the class that people paste into their drivers, unchanged but for its name.
`PlainMutex` makes the calls of the simpler one: no owner, nothing read back.
"""
import logging
import os
import sys
import time

from cloudshell.api.cloudshell_api import AttributeNameValue, CloudShellAPISession

from random import randint
from time import sleep
class OwnerMutex(object):
    def __init__(self, api, resid, my_unique_name, global_mutex_name='MUTEX', logger=None):
        self.api = api
        self.resid = resid
        self.my_unique_name = my_unique_name
        self.global_mutex_name = global_mutex_name
        self.logger = logger

    def __enter__(self):
        for _ in range(100):
            try:
                self.api.AddServiceToReservation(self.resid, 'Mutex Service', self.global_mutex_name, [
                    AttributeNameValue('Mutex Owner', self.my_unique_name)
                ])
                for svc in self.api.GetReservationDetails(self.resid).ReservationDescription.Services:
                    if svc.Alias == 'MUTEX':
                        for a in svc.Attributes:
                            if a.Name == 'Mutex Owner':
                                if a.Value != self.my_unique_name:
                                    raise Exception('Lost race for mutex -- %s owned by %s instead of %s' % (
                                        self.global_mutex_name, a.Value, self.my_unique_name))
                if self.logger:
                    self.logger.info('Got mutex')
                break
            except Exception as e:
                if self.logger:
                    self.logger.info('Failed to add mutex service: %s; sleeping 2-5 seconds' % str(e))
                sleep(randint(2, 5))
        else:
            if self.logger:
                self.logger.info('Waited over 200 seconds without getting the mutex; continuing without it')

    def __exit__(self, exc_type, exc_val, exc_tb):
        if exc_type:
            if self.logger:
                self.logger.info('Releasing mutex, caught error %s %s %s' % (str(exc_type), str(exc_val), str(exc_tb)))
        else:
            if self.logger:
                self.logger.info('Releasing mutex')
        self.api.RemoveServicesFromReservation(self.resid, [self.global_mutex_name])


class PlainMutex(object):
    """Tries without end where the published one gives up: a worker here never works unprotected."""

    def __init__(self, api, resid, name='MUTEX', logger=None):
        self.api, self.resid, self.name, self.logger = api, resid, name, logger

    def __enter__(self):
        while True:
            try:
                return self.api.AddServiceToReservation(self.resid, 'Mutex Service', self.name, [])
            except Exception as refusal:
                self.logger.info('Failed to add mutex service: %s', refusal)
                sleep(randint(2, 5))

    def __exit__(self, *_):
        self.api.RemoveServicesFromReservation(self.resid, [self.name])


def work(directory):
    """Adds one to a counter that nothing but the mutex protects, and notices company."""
    inside, counter = os.path.join(directory, 'inside'), os.path.join(directory, 'counter')
    os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
    with open(counter) as file:
        count = int(file.read())
    time.sleep(0.1)
    with open(counter, 'w') as file:
        file.write(str(count + 1))
    os.unlink(inside)


def main():
    port, reservation, kind, name, rounds, directory = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format=name + ' %(asctime)s %(message)s')
    logger = logging.getLogger()
    api = CloudShellAPISession('127.0.0.1', 'admin', 'admin', 'Global', port=int(port))
    for _ in range(int(rounds)):
        mutex = {
            'owner': lambda: OwnerMutex(api, reservation, name, 'MUTEX', logger),
            'plain': lambda: PlainMutex(api, reservation, 'MUTEX', logger),
        }[kind]()
        with mutex:
            work(directory)


if __name__ == '__main__':
    main()
